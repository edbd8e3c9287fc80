import { Type } from "typebox";
import { ActivityBatch, userAgentCharactersMax, type Activity, type RecordedActivity } from "../domain/activity.ts";
import { newActivity } from "../db/inbox.ts";
import { firstCharacters, shownTime } from "../domain/text.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const bodyBytesMax = 2 * 1024 * 1024;

// Times are stored as they are shown, to the millisecond.
export function recorded(activity: Activity, receivedAt: string): RecordedActivity {
  const { user_agent: agent, occurred_at } = activity;
  return {
    ...activity,
    ...(agent !== undefined && { user_agent: firstCharacters(agent, userAgentCharactersMax) }),
    occurred_at: shownTime(occurred_at),
    origin: "server",
    received_at: receivedAt,
  };
}

async function accept(services: Services, { caller, body }: Call<ActivityBatch>): Promise<Reply> {
  const receivedAt = services.now();
  // Emptied, so that the parsed activities are not held until they are stored.
  const activities = body.activities.splice(0).map((each) => newActivity(recorded(each, receivedAt)));
  const inserted = await services.acceptTogether(caller.tenant_id, activities);
  return dataReply({ accepted: inserted.accepted, duplicates: inserted.duplicates }, 202);
}

export const activityOperations: Operation[] = [
  operation({
    id: "createActivities",
    method: "POST",
    path: "/activities",
    scope: "create:activities",
    tag: "Activity",
    summary: "Send activity of your website",
    description:
      "From your own servers. Accepted activity is durable and is scored within seconds. Suspicious activity opens a case or joins the account's open one. One invalid activity rejects the whole batch.",
    body: ActivityBatch,
    bodyBytesMax,
    success: {
      status: 202,
      description: "How many were new, and how many had been sent before",
      schema: Type.Object({ accepted: Type.Integer(), duplicates: Type.Integer() }, { additionalProperties: false }),
    },
    problems: ["bad-request", "transaction-contended"],
    example: {
      activities: [
        {
          activity_id: "chargeback-7781",
          type: "fraud_report",
          occurred_at: "2026-11-15T09:30:00.000Z",
          website_account_id: "user-42",
          attributes: { label: "Account Takeover", note: "The customer called." },
        },
      ],
    },
    handle: accept,
  }),
];
