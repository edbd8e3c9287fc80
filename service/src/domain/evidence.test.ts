import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { joinCase, openCase, type CaseDocument } from "./case.ts";
import { compareEvidence, countRepeat, isRepeat, occurrencesShownMax } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import type { Source } from "./source.ts";

const now = "2026-11-15T09:30:00.000Z";
const later = "2026-11-15T10:30:00.000Z";
const subject = { tenant_id: randomUUID(), website_account_id: "user-42" };
const ids = () => ({ case_id: randomUUID(), state_id: randomUUID(), occurrence_id: randomUUID(), prediction_id: randomUUID() });

function findingOf(source: Source, rules: string[], more: Partial<Finding> = {}): Finding {
  return {
    source,
    score: 5,
    label: "Bot",
    action: "BLOCK",
    summary: `${source} ${rules.join(" ")}`,
    highlights: rules.map((rule) => `${source} ${rule}`),
    session_id: undefined,
    session_status: "FINISHED",
    explanation: {
      fraud_reason: "r",
      fraud_reason_description: "r",
      fraud_types: [],
      model_behaviour: rules.map((model_name) => ({ type: "rule", model_name, top_contributors: [] })),
    },
    ...more,
  };
}

const opened = (finding: Finding) => openCase(subject, finding, ids(), now).document;
const joined = (open: CaseDocument, finding: Finding) => joinCase(open, finding, ids(), later).document;
const report = () => findingOf("server", ["reported_fraud"], { isReport: true });
const rulesOf = ({ fraud_occurrences }: CaseDocument) =>
  Object.values(fraud_occurrences).map(({ explanation }) => explanation.model_behaviour?.[0]?.model_name);

// The same steps as in the engine.
function added(open: CaseDocument, finding: Finding): CaseDocument {
  return isRepeat(open, finding) ? countRepeat(open, finding, later) : joined(open, finding);
}

test("openCase: a page's claim counts for at most score 3 and MONITOR, and its source is given in words", () => {
  const document = opened(findingOf("page", ["a"]));
  expect(document.details).toMatchObject({ overall_risk_score: 3, recommended_action: "MONITOR" });
  expect(document.current_state.score).toBe(3);
  expect(Object.values(document.fraud_occurrences)).toMatchObject([
    {
      risk_score: 3,
      count: 1,
      first_at: now,
      last_at: now,
      explanation: { evidence_source: "page", evidence: "claimed by a page" },
    },
  ]);
});

test.each([
  ["server", "reported by your server"],
  ["verified_session", "seen in a verified session"],
] as const)("openCase: evidence from a %s counts in full", (source, evidence) => {
  const document = opened(findingOf(source, ["a"]));
  expect(document.details).toMatchObject({ overall_risk_score: 5, recommended_action: "BLOCK" });
  expect(Object.values(document.fraud_occurrences)).toMatchObject([{ explanation: { evidence_source: source, evidence } }]);
});

test("joinCase: claims alone never raise a case above 3 and MONITOR; the first other evidence counts in full", () => {
  const claims = joined(opened(findingOf("page", ["a"])), findingOf("page", ["b"], { action: "ESCALATE", isReport: true }));
  expect(claims.details).toMatchObject({ overall_risk_score: 3, recommended_action: "MONITOR" });
  const weak = joined(claims, findingOf("server", ["c"], { score: 3, action: "CHALLENGE", label: "Account Takeover" }));
  expect(weak.details).toMatchObject({
    overall_risk_score: 3,
    recommended_action: "CHALLENGE",
    primary_fraud_label: "Account Takeover",
    summary: "server c",
  });
  const strong = joined(claims, findingOf("verified_session", ["c"], { score: 4, action: "BLOCK" }));
  expect(strong.details).toMatchObject({ overall_risk_score: 4, recommended_action: "BLOCK" });
});

test("joinCase: a claim replaces neither the summary nor the highlights from other sources", () => {
  const many = Array.from({ length: 20 }, (_, n) => `s${n}`);
  const told = opened(findingOf("server", many, { score: 3, label: "Account Takeover" }));
  const claimed = joined(told, findingOf("page", ["p"]));
  expect(claimed.details).toMatchObject({ ...told.details, fraud_labels: ["Account Takeover", "Bot"] });
});

test("isRepeat: known rules from an equally trusted source are repeats; a new rule, source, score or report is not", () => {
  const claim = opened(findingOf("page", ["a", "b"]));
  expect(isRepeat(claim, findingOf("page", ["a"], { session_id: "another" }))).toBe(true);
  expect(isRepeat(claim, findingOf("page", ["a", "b"]))).toBe(true);
  expect(isRepeat(claim, findingOf("page", ["a", "c"]))).toBe(false);
  expect(isRepeat(claim, findingOf("verified_session", ["a"], { score: 3 }))).toBe(false);
  expect(isRepeat(claim, findingOf("server", ["a"], { score: 3 }))).toBe(false);
  const told = opened(findingOf("server", ["a"], { score: 4 }));
  expect(isRepeat(told, findingOf("page", ["a"]))).toBe(true);
  expect(isRepeat(told, findingOf("server", ["a"], { score: 5 }))).toBe(false);
  expect(isRepeat(opened(report()), report())).toBe(false);
  expect(isRepeat(opened(findingOf("page", ["a"])), findingOf("page", ["a"], { isReport: true }))).toBe(true);
});

test("isRepeat: rules that are spread over several pieces of evidence are known", () => {
  const document = joined(opened(findingOf("server", ["a"])), findingOf("page", ["b"]));
  expect(isRepeat(document, findingOf("page", ["a", "b"]))).toBe(true);
  expect(isRepeat(document, findingOf("server", ["a", "b"]))).toBe(false);
});

test("isRepeat: evidence from before sources were stored is fully trusted", () => {
  const text = JSON.stringify(opened(findingOf("server", ["a"])));
  const old = JSON.parse(
    text.replace(/"evidence_source":.*?,"evidence":".*?"|"count":1,|"(first|last)_at":".*?",/g, "").replace(/,}/g, "}"),
  );
  expect(Object.values((old as CaseDocument).fraud_occurrences)[0]).not.toHaveProperty("count");
  expect(isRepeat(old, findingOf("page", ["a"]))).toBe(true);
  expect(countRepeat(old, findingOf("page", ["a"]), later)).toBe(old);
  const counted = countRepeat<CaseDocument>(old, findingOf("server", ["a"]), later);
  expect(Object.values(counted.fraud_occurrences)).toMatchObject([{ count: 2, first_at: now, last_at: later }]);
});

test("countRepeat: the most similar evidence from the same source is counted, and nothing else changes", () => {
  const document = joined(
    joined(opened(findingOf("server", ["a", "b"])), findingOf("page", ["a", "c"])),
    findingOf("page", ["d"]),
  );
  const counted = countRepeat(document, findingOf("page", ["a", "c", "d"]), "2026-11-15T09:00:00.000Z");
  const [server, claim, other] = Object.values(counted.fraud_occurrences);
  expect(claim).toMatchObject({ count: 2, first_at: "2026-11-15T09:00:00.000Z", last_at: later });
  expect([server?.count, other?.count]).toEqual([1, 1]);
  expect({ ...counted, fraud_occurrences: {} }).toEqual({ ...document, fraud_occurrences: {} });
  const told = opened(findingOf("server", ["a"]));
  expect(countRepeat(told, findingOf("page", ["a"]), later)).toBe(told);
});

test("evidence: whatever pages send, a case's version rises at most once per rule, and evidence from others stays", () => {
  let document = opened(findingOf("server", ["server rule"], { score: 4 }));
  for (let n = 0; n < 5; n++) document = joined(document, report());
  for (let n = 0; n < 5_000; n++) document = added(document, findingOf("page", [`rule ${(n * 7) % 40}`, `rule ${n % 3}`]));
  expect(document.case_version).toBeLessThanOrEqual(6 + 40);
  expect(rulesOf(document).slice(0, 6)).toEqual(["server rule", ...Array.from({ length: 5 }, () => "reported_fraud")]);
  expect(document.details).toMatchObject({ overall_risk_score: 5, summary: "server reported_fraud" });
});

test("evidence: a full case drops claims first, then the weakest, keeps reports, and accepts no more claims", () => {
  let document = opened(findingOf("server", ["weak"], { score: 3 }));
  for (let n = 0; n < 50; n++) document = added(document, findingOf("page", [`claim ${n}`]));
  for (let n = 0; n < occurrencesShownMax - 51; n++) document = added(document, report());
  const full = document.case_version;
  for (let n = 0; n < 500; n++) document = added(document, findingOf("page", [`more ${n}`]));
  expect(document.case_version).toBe(full);
  for (let n = 0; n < 49; n++) document = added(document, report());
  expect(rulesOf(document).filter((rule) => rule?.startsWith("claim"))).toEqual(["claim 49"]);
  document = added(document, findingOf("verified_session", ["session"]));
  expect(rulesOf(document)).toContain("session");
  expect(isRepeat(document, findingOf("verified_session", ["session 2"]))).toBe(true);
  document = added(added(document, report()), report());
  expect(new Set(rulesOf(document))).toEqual(new Set(["reported_fraud"]));
  expect(rulesOf(document)).toHaveLength(occurrencesShownMax);
});

const weighing = (rule: string, weight: number, more: Partial<Finding> = {}): Finding => {
  const part = { feature: rule, plain_name: rule, feature_value: true, shap_value: weight, description: rule };
  const contributor = { ...part, direction: "toward_fraud" as const, impact_level: "HIGH" as const };
  const finding = findingOf("server", [rule], more);
  const behaviour = { type: "rule", model_name: rule, top_contributors: [contributor] };
  return { ...finding, explanation: { ...finding.explanation, model_behaviour: [behaviour] } };
};

test("joinCase: a transfer leads and stays, however many failed log-ins follow, and whatever they weigh", () => {
  const noise = Array.from({ length: 30 }, (_, n) => weighing(`guess${n}`, 20, { isAttempt: true, label: "Bot" }));
  const transfer = weighing("transfer", 7, { label: "Account Takeover", highlights: ["sent", "changed"] });
  const document = [transfer, ...noise].reduce(added, opened(weighing("first_guess", 20, { isAttempt: true })));
  expect(document.details).toMatchObject({ summary: transfer.summary, primary_fraud_label: "Account Takeover" });
  expect(document.details.highlights.slice(0, 3)).toEqual(["sent", "changed", "server first_guess"]);
  const [strongest] = Object.values(document.fraud_occurrences).toSorted(compareEvidence);
  expect(strongest?.explanation.model_behaviour?.[0]?.model_name).toBe("transfer");
});

test("joinCase: of two stories with one score, the one with more log-odds leads; of two that weigh the same, the first", () => {
  const [weak, same, strong] = [weighing("weak", 6), weighing("same", 6), weighing("strong", 6.001)];
  expect(joined(opened(weak), same).details.summary).toBe(weak.summary);
  expect(joined(opened(weak), strong).details.summary).toBe(strong.summary);
  expect(joined(opened(strong), weak).details.summary).toBe(strong.summary);
});

const signupWords = (count: number): string[] => [
  `${count} sign-ups were made on one device within a day.`,
  'It came from the device "d-7 4".',
];

test("joinCase: in a case about a source, a sentence that differs only in its counts is shown once, with the strongest evidence", () => {
  const evidence = (signups: number, log_odds: number) => weighing("farm", log_odds, { highlights: signupWords(signups) });
  const about = { ...subject, website_account_id: "UNKNOWN", about: { kind: "device" as const, id: "d-7 4" } };
  const source = openCase(about, evidence(4, 4), ids(), now).document;
  expect(joined(source, evidence(1_100, 6)).details.highlights).toEqual(signupWords(1_100));
  expect(joined(source, evidence(3, 2)).details.highlights).toEqual(signupWords(4));
  const [address, other] = ["It came from 203.0.113.7.", "It came from 203.0.113.8."];
  const addresses = openCase(about, weighing("farm", 4, { highlights: [address] }), ids(), now).document;
  expect(joined(addresses, weighing("farm", 2, { highlights: [other] })).details.highlights).toEqual([address, other]);
  const transfers = opened(weighing("transfer", 4, { highlights: ["A transfer of 200."] }));
  expect(joined(transfers, weighing("transfer", 2, { highlights: ["A transfer of 90."] })).details.highlights).toHaveLength(2);
});
