import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { scoreReport } from "../detection/report.ts";
import type { Activity } from "./activity.ts";
import { changeAccount, newAccount } from "./account.ts";
import { changeStatus, joinCase, openCase, statesShownMax } from "./case.ts";
import { pseudonymiseCase } from "./erasure.ts";
import { occurrencesShownMax } from "./evidence.ts";
import type { Finding } from "./finding.ts";

const now = "2026-11-15T09:30:00.000Z";
const later = "2026-11-15T10:30:00.000Z";
const subject = { tenant_id: randomUUID(), website_account_id: "user-42" };

function ids() {
  return { case_id: randomUUID(), state_id: randomUUID(), occurrence_id: randomUUID(), prediction_id: randomUUID() };
}

function findingOf(more: Partial<Finding>): Finding {
  const activity: Activity = { activity_id: "a", type: "fraud_report", occurred_at: now, website_account_id: "user-42" };
  const finding = scoreReport(activity, Date.parse(now));
  if (!finding) throw new Error("a report is always a finding");
  return { ...finding, ...more };
}

test("joinCase: score, labels and recommendation rise and never fall", () => {
  const { document } = openCase(subject, findingOf({ score: 4, label: "Bot", action: "BLOCK", summary: "first" }), ids(), now);
  const weaker = joinCase(
    document,
    findingOf({ score: 3, label: "Synthetic", action: "MONITOR", summary: "second" }),
    ids(),
    later,
  );
  expect(weaker.document.details).toMatchObject({
    overall_risk_score: 4,
    primary_fraud_label: "Bot",
    fraud_labels: ["Bot", "Synthetic"],
    recommended_action: "BLOCK",
    summary: "first",
  });
  const equal = joinCase(weaker.document, findingOf({ score: 4, label: "Organic", summary: "as strong" }), ids(), later);
  expect(equal.document.details).toMatchObject({ primary_fraud_label: "Bot", summary: "first" });
  const stronger = joinCase(
    weaker.document,
    findingOf({ score: 5, label: "Organic", action: "ESCALATE", summary: "third" }),
    ids(),
    later,
  );
  expect(stronger.document.details).toMatchObject({
    overall_risk_score: 5,
    primary_fraud_label: "Organic",
    fraud_labels: ["Bot", "Synthetic", "Organic"],
    recommended_action: "ESCALATE",
    summary: "third",
  });
  expect(stronger.document).toMatchObject({
    case_version: 3,
    updated_at: later,
    current_state: { score: 5, changed_by: "system" },
  });
});

test("joinCase: during a long attack a case keeps its latest states and occurrences, and its version counts every change", () => {
  let { document } = openCase(subject, findingOf({}), ids(), now);
  const joins = statesShownMax + 20;
  for (let join = 0; join < joins; join++) document = joinCase(document, findingOf({}), ids(), later).document;
  expect(document.case_version).toBe(joins + 1);
  expect(document.state_history).toHaveLength(statesShownMax);
  expect(Object.keys(document.fraud_occurrences)).toHaveLength(occurrencesShownMax);
});

test("changeStatus: setting the current status changes nothing", () => {
  const { document } = openCase(subject, findingOf({}), ids(), now);
  const actor = { name: "someone", now: later, state_id: randomUUID() };
  const same = changeStatus(document, { status: "OPEN", case_version: 1 }, actor);
  expect(same).toEqual({ document, events: [] });
  const closed = changeStatus(document, { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE" }, actor);
  expect(closed.events).toMatchObject([{ type: "case.closed", actor: "someone", data: { disposition: "FALSE_POSITIVE" } }]);
  expect(closed.document.state_history).toEqual([document.current_state]);
});

// Each change takes its time before it waits for its turn.
test("changes: a change that waited for one requested later does not get an earlier time", () => {
  const { document: opened } = openCase(subject, findingOf({}), ids(), now);
  const close = { status: "CLOSED", case_version: 1 } as const;
  const { document } = changeStatus(opened, close, { name: "someone", now: later, state_id: randomUUID() });
  const reopen = { status: "OPEN", case_version: 2 } as const;
  const reopened = changeStatus(document, reopen, { name: "someone", now, state_id: randomUUID() });
  const joined = joinCase(reopened.document, findingOf({}), ids(), now);
  const erased = pseudonymiseCase(joined.document, "erased-1", { name: "someone", now });
  for (const changed of [reopened, joined, erased]) {
    expect(changed.document).toMatchObject({ updated_at: later, current_state: { changed_at: later } });
    expect(changed.events).toMatchObject([{ occurred_at: later }]);
  }
  const account = changeAccount(newAccount(subject.tenant_id, subject, later), { is_blocked: true }, now);
  expect(account).toMatchObject({ is_blocked: true, updated_at: later });
});

test("scoreReport: only reports are findings; an unknown label counts as Organic and is shown as it was sent", () => {
  const activity: Activity = { activity_id: "a", type: "login_failed", occurred_at: now };
  expect(scoreReport(activity, Date.parse(now))).toBeNull();
  const reported = scoreReport({ ...activity, type: "fraud_report", attributes: { label: "chargeback" } }, Date.parse(now));
  expect(reported).toMatchObject({ score: 5, label: "Organic", action: "ESCALATE" });
  expect(reported?.highlights).toContain("Reported as: chargeback");
  const spelled = scoreReport({ ...activity, type: "fraud_report", attributes: { label: "account TAKEOVER" } }, Date.parse(now));
  expect(spelled?.label).toBe("Account Takeover");
});

test("scoreReport: the session is ACTIVE for 30 minutes after the activity", () => {
  const activity: Activity = { activity_id: "a", type: "fraud_report", occurred_at: now, session_id: "s" };
  const statusAfter = (minutes: number) => scoreReport(activity, Date.parse(now) + minutes * 60_000)?.session_status;
  expect([statusAfter(0), statusAfter(29), statusAfter(30), statusAfter(31)]).toEqual([
    "ACTIVE",
    "ACTIVE",
    "FINISHED",
    "FINISHED",
  ]);
});
