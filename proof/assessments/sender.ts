import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Assessment } from "../../service/src/domain/assessment.ts";
import type { Random } from "@casehound/simulator/random";
import { dataOf, type ApiCaller, type Answer } from "../writers/call.ts";

export type Body = Record<string, unknown> & { activity_id: string };

const retryMs = 50;

export function bodyOf(random: Random, more: Record<string, unknown> = {}): Body {
  const type = random.pick(["login_succeeded", "login_failed", "payment", "password_changed", "fraud_report"]);
  return {
    activity_id: `assessed-${randomUUID()}`,
    type,
    occurred_at: new Date().toISOString(),
    website_account_id: `user-${random.whole(0, 20)}`,
    device_id: `device-${random.whole(0, 5)}`,
    ip: `192.0.2.${random.whole(1, 20)}`,
    deadline_ms: 2_000,
    otherwise: "CHALLENGE",
    ...more,
  };
}

export function assessmentIn(answer: Answer): Assessment {
  // The operation's schema guarantees the type.
  return dataOf(answer) as Assessment;
}

export function send(line: ApiCaller, body: Body, headers: Record<string, string> = {}): Promise<Answer | null> {
  return line.call({ method: "POST", path: "/assessments", body, headers });
}

// Sends the same request until it gets an answer that is stored.
export async function sendUntilStored(line: ApiCaller, body: Body): Promise<Answer> {
  for (;;) {
    const answer = await send(line, body);
    if (answer?.status === 200 && assessmentIn(answer).is_stored) return answer;
    await sleep(retryMs);
  }
}
