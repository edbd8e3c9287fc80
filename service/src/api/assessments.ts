import { Assessment, AssessmentRequest, deadlineMs } from "../domain/assessment.ts";
import { recorded } from "./activities.ts";
import { fingerprint } from "./case-update.ts";
import type { Reply } from "./http/problem.ts";
import { jsonMediaType, operation, type Call, type Operation, type Services } from "./operation.ts";

async function assess(services: Services, { caller, body }: Call<AssessmentRequest>): Promise<Reply> {
  const { deadline_ms: deadline = deadlineMs.fallback, otherwise = "ALLOW", ...activity } = body;
  const receivedAt = services.now();
  const { reply, isReplay } = await services.assess(caller.tenant_id, {
    activity: { ...recorded(activity, receivedAt), prediction_id: services.newId(receivedAt) },
    fingerprint: fingerprint({ method: "POST", path: "/assessments", body: { ...activity, deadline_ms: deadline, otherwise } }),
    deadlineMs: deadline,
    otherwise,
  });
  const headers = { "content-type": jsonMediaType, ...(isReplay && { "idempotent-replayed": "true" }) };
  return { status: 200, body: `{"data":${reply}}`, headers };
}

export const assessmentOperations: Operation[] = [
  operation({
    id: "createAssessment",
    method: "POST",
    path: "/assessments",
    scope: "create:activities",
    furtherScope: "read:decisions",
    tag: "Activity",
    summary: "Send an activity and get a verdict",
    description:
      "For a server that must decide immediately, such as at log-in or checkout. The activity is stored and scored as if it had been sent to `POST /activities`, and the response says what to do. This operation also requires the scope `read:decisions`. Repeating a request returns the same response. A request with the same activity_id but a different body is rejected with 409.",
    body: AssessmentRequest,
    hasDeadline: true,
    success: {
      status: 200,
      description: "The verdict",
      schema: Assessment,
      headers: { "Idempotent-Replayed": "`true` if this response was already given to an earlier request." },
    },
    problems: ["bad-request", "operation-idempotency-conflict", "transaction-contended"],
    example: {
      activity_id: "login-5512",
      type: "login_succeeded",
      occurred_at: "2026-11-15T09:30:00.000Z",
      website_account_id: "user-42",
      device_id: "device-7",
      ip: "192.0.2.7",
      deadline_ms: 150,
      otherwise: "ALLOW",
    },
    handle: assess,
  }),
];
