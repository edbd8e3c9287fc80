import { answeredChannel, findAnswers, notify, saveAnswers, type Answer } from "../db/assessments.ts";
import type { Flags } from "../db/accounts.ts";
import type { Assessment } from "../domain/assessment.ts";
import { decidedEvent } from "../domain/assessment.ts";
import type { DomainEvent } from "../domain/event.ts";
import { actionOf, type PolicyDefinition } from "../domain/policy.ts";
import type { Batch, CaseWork } from "./cases.ts";
import type { Judged } from "./judging.ts";
import { situationOf } from "./policy.ts";

type Given = {
  flags: ReadonlyMap<string, Flags>;
  caseOf: (judged: Judged) => string | null;
  verdictFrom: "engine" | "snapshot";
  now: string;
};

// Returns the answer to an assessment, or null if the activity is not an assessment.
export function answerTo(
  judged: Judged,
  policy: PolicyDefinition,
  { flags, caseOf, verdictFrom, now }: Given,
): Assessment | null {
  const { activity, score, evidence } = judged;
  const { prediction_id, website_account_id: account } = activity;
  if (prediction_id === undefined || !evidence) return null;
  const { action, would_be } = actionOf(policy, situationOf(judged, flags.get(account ?? "")));
  return {
    activity_id: activity.activity_id,
    prediction_id,
    action,
    ...(would_be !== undefined && { would_be }),
    score,
    log_odds: evidence.logOdds,
    is_final: verdictFrom === "engine",
    verdict_from: verdictFrom,
    reasons: evidence.reasons.map(({ name, sentence, weight }) => ({
      fraud_reason: name,
      description: sentence,
      contribution: Math.round(weight * 1000) / 1000,
    })),
    case_id: caseOf(judged),
    lists: [...judged.lists],
    took_ms: Math.max(0, Date.parse(now) - Date.parse(activity.received_at)),
    is_stored: true,
  };
}

type Decided = {
  judged: Judged[];
  policy: PolicyDefinition;
  cases: CaseWork;
  flags: ReadonlyMap<string, Flags>;
  isLocal: (id_key: string) => boolean;
};
export type Answered = { answers: Answer[]; events: DomainEvent[] };

// Stores the answers to a batch's assessments. If an assessment was already answered at its deadline, that answer stays. If the
// decision differs, an event says what was decided.
export async function answerBatch(batch: Batch, { judged, policy, cases, flags, isLocal }: Decided): Promise<Answered> {
  const { tx, tenantId, clock } = batch;
  const asked = judged.filter(({ evidence }) => evidence !== undefined);
  if (asked.length === 0) return { answers: [], events: [] };
  const caseOf = ({ found: [first] }: Judged) => (first && cases.caseOf.get(first.subject)) ?? null;
  // Read the clock as late as possible, because an answer says how long it took.
  const now = clock.now();
  const made = new Map(
    asked.flatMap((each): [string, Assessment][] => {
      const answer = answerTo(each, policy, { flags, caseOf, verdictFrom: "engine", now });
      return answer ? [[each.id_key, answer]] : [];
    }),
  );
  const answers = [...made].map(([id_key, answer]) => ({ id_key, reply: JSON.stringify(answer) }));
  const saved = await saveAnswers(tx, tenantId, answers);
  if (answers.some(({ id_key }) => saved.has(id_key) && !isLocal(id_key))) await notify(tx, answeredChannel, tenantId);
  const late = answers.filter(({ id_key }) => !saved.has(id_key)).map(({ id_key }) => id_key);
  const before = late.length === 0 ? [] : await findAnswers(tx, tenantId, late);
  const events = before.flatMap(({ id_key, reply }) => {
    const decided = made.get(id_key);
    // The cast is safe, because only answers are stored as replies.
    return (decided && decidedEvent(JSON.parse(reply) as Assessment, decided, now)) ?? [];
  });
  return { answers: answers.filter(({ id_key }) => saved.has(id_key)), events };
}
