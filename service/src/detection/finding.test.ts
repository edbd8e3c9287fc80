import { expect, test } from "vitest";
import { active, findAll, ruleSet, stranger, type Judged } from "../../test/verdict.ts";
import type { Finding } from "../domain/finding.ts";
import type { LoginRatio } from "./entity.ts";
import { judge } from "./score.ts";
import { contextOf } from "./vector.ts";

function findOne(judged: Judged): Finding {
  const [found, ...more] = findAll({ ...judged, activity: { website_account_id: "owner", ...judged.activity } });
  if (!found || more.length > 0) throw new Error("there is not one finding");
  return found.finding;
}

const familiar: LoginRatio = {
  total: -6,
  history: 12,
  parts: [
    ["country", -3],
    ["device", -3],
  ],
};

test("finding: a score below 3 gives no finding", () => {
  const account = { website_account_id: "owner" };
  expect(findAll({ rules: [active({ rule_id: "a", weight: 2.49 })], activity: account })).toEqual([]);
  expect(findAll({ rules: [active({ rule_id: "a", weight: 2.5 })], activity: account })).toHaveLength(1);
});

test("finding: the label is the one with the largest total weight over its rules", () => {
  const bots = [active({ rule_id: "a", weight: 1.5, label: "Bot" }), active({ rule_id: "b", weight: 1.5, label: "Bot" })];
  const synthetic = active({ rule_id: "c", weight: 2.9, label: "Synthetic" });
  expect(findOne({ rules: [...bots, synthetic] }).label).toBe("Bot");
  expect(findOne({ rules: [bots[0] ?? synthetic, synthetic] }).label).toBe("Synthetic");
});

test("finding: an unusual log-in counts toward Account Takeover, and a usual one against no label", () => {
  const bot = active({ rule_id: "a", weight: 1, label: "Bot" });
  expect(findOne({ rules: [bot], ratio: stranger }).label).toBe("Account Takeover");
  expect(findOne({ rules: [active({ rule_id: "a", weight: 5, label: "Bot" })], ratio: familiar }).label).toBe("Bot");
});

test("finding: score 3 means CHALLENGE for Account Takeover and MONITOR otherwise, 4 means CHALLENGE, 5 means BLOCK", () => {
  for (const [label, actions] of [
    ["Bot", ["MONITOR", "CHALLENGE", "BLOCK"]],
    ["Account Takeover", ["CHALLENGE", "CHALLENGE", "BLOCK"]],
  ] as const) {
    const findings = [2.5, 4, 6].map((weight) => findOne({ rules: [active({ rule_id: "a", weight, label })] }));
    expect(findings.map(({ action }) => action)).toEqual(actions);
  }
});

test("finding: the action is ESCALATE if a known fraud is among the reasons, whatever the score", () => {
  for (const [field, value] of [
    ["device.confirmed_frauds", 1],
    ["account.confirmed_frauds", 2],
    ["account.reports", 1],
  ] as const) {
    for (const weight of [2.5, 6]) {
      const rules = [active({ rule_id: "a", weight, expression: `${field} >= 1` })];
      expect(findOne({ rules, features: { [field]: value } }).action).toBe("ESCALATE");
    }
  }
  const flagged = [active({ rule_id: "a", weight: 3, expression: "account.is_blocked || account.is_fraudulent" })];
  expect(findOne({ rules: flagged, features: { "account.is_fraudulent": true } }).action).toBe("ESCALATE");
  expect(findOne({ rules: flagged, features: { "account.is_blocked": true } }).action).toBe("MONITOR");
  const clean = [active({ rule_id: "a", weight: 3, expression: "account.reports == 0" })];
  expect(findOne({ rules: clean }).action).toBe("MONITOR");
});

test("finding: a report gets score 5, ESCALATE and its note, whatever the rules say", () => {
  const finding = findOne({ rules: [], activity: { type: "fraud_report", attributes: { label: "bot", note: "A call." } } });
  expect(finding).toMatchObject({ score: 5, label: "Bot", action: "ESCALATE", isReport: true });
  expect(finding.highlights).toContain("Note: A call.");
});

test("finding: the summary gives the heaviest reason and says whether there are more; the highlights list all, heaviest first", () => {
  const rules = [active({ rule_id: "light", weight: 1 }), active({ rule_id: "heavy", weight: 2, label: "Synthetic" })];
  expect(findOne({ rules })).toMatchObject({
    summary: "heavy of 7. And more reasons.",
    highlights: ["heavy of 7.", "light of 7."],
    explanation: {
      fraud_reason: "Rule heavy",
      fraud_reason_description: "heavy of 7.",
      fraud_types: ["Synthetic Fraud", "Bot Creation"],
    },
  });
  const three = [...rules, active({ rule_id: "third", weight: 0.5 })];
  expect(findOne({ rules: three }).summary).toBe("heavy of 7. And more reasons.");
  expect(findOne({ rules: [active({ rule_id: "only", weight: 3 })] }).summary).toBe("only of 7.");
});

test("finding: an unusual log-in is described by what is unusual and how much history there was", () => {
  expect(findOne({ rules: [], ratio: stranger })).toMatchObject({
    label: "Account Takeover",
    summary: "Country, device and operating system are unusual for this account, compared with its 12 earlier log-ins.",
    explanation: { fraud_reason: "Unusual log-in" },
  });
  const one: LoginRatio = { total: 3, history: 20, parts: [["device", 3]] };
  const rules = [active({ rule_id: "a", weight: 3 })];
  expect(findOne({ rules, ratio: one }).highlights).toEqual([
    "a of 7.",
    "Device is unusual for this account, compared with its 20 earlier log-ins.",
  ]);
  const small: LoginRatio = {
    total: 2.4,
    history: 20,
    parts: ["country", "os", "asn", "ip", "agent"].map((kind) => [kind, 0.48]),
  };
  expect(findOne({ rules, ratio: small }).highlights[1]).toBe(
    "The combination of values is unusual for this account, compared with its 20 earlier log-ins.",
  );
});

test("finding: a usual log-in is not a reason, but its reduction is shown among the contributors", () => {
  const finding = findOne({ rules: [active({ rule_id: "a", weight: 5, label: "Account Takeover" })], ratio: familiar });
  expect(finding.highlights).toEqual(["a of 7."]);
  const shown = finding.explanation.model_behaviour?.find(({ type }) => type === "likelihood_ratio")?.top_contributors;
  expect(shown).toMatchObject([
    { feature: "login.country", direction: "toward_safe", feature_value: "usual" },
    { feature: "login.device", direction: "toward_safe", feature_value: "usual" },
    { feature: "login.usual", plain_name: "Log-in contribution capped", feature_value: "limited" },
  ]);
});

test("finding: the contributors' values sum to the log-odds", () => {
  const rules = [
    active({
      rule_id: "a",
      weight: 4.3,
      label: "Account Takeover",
      expression: "event.value > 1 && account.values == 0 && session.gaps == 0",
    }),
    active({ rule_id: "b", weight: 0.7 }),
  ];
  for (const ratio of [null, stranger, familiar]) {
    const { logOdds } = judge(contextOf({ "event.type": "payment", "event.value": 7 }, {}), ruleSet(...rules), ratio);
    const models = findOne({ rules, ...(ratio && { ratio }) }).explanation.model_behaviour ?? [];
    const values = models.flatMap(({ top_contributors }) => top_contributors.map(({ shap_value }) => shap_value));
    const sum = values.reduce((total, value) => total + value, 0);
    expect(sum).toBeCloseTo(logOdds, 6);
  }
});

test("finding: contributors are the fields that a rule read, with their plain names and values", () => {
  const expression = `event.type == "payment" && event.value == 999999.0 && account.minutes_since_other_country > 60`;
  const { explanation } = findOne({
    rules: [active({ rule_id: "a", weight: 5, expression })],
    features: { "event.value": 999_999 },
  });
  expect(explanation.model_behaviour).toMatchObject([
    {
      type: "rule",
      model_name: "a",
      top_contributors: [
        { feature: "event.value", plain_name: "Amount", feature_value: 999_999, shap_value: 2.5, impact_level: "HIGH" },
        { feature: "account.minutes_since_other_country", feature_value: "never", direction: "toward_fraud" },
      ],
    },
  ]);
  const bare = findOne({ rules: [active({ rule_id: "a", weight: 3, expression: `event.type == "payment"` })] });
  expect(bare.explanation.model_behaviour?.[0]?.top_contributors).toMatchObject([{ feature: "event.type", shap_value: 3 }]);
});

test("finding: a session is active until half an hour after the event; without a session the status is FINISHED", () => {
  const rules = [active({ rule_id: "account", weight: 3 })];
  expect(findOne({ rules, activity: { session_id: "s1" }, minutesAgo: 29 }).session_status).toBe("ACTIVE");
  expect(findOne({ rules, activity: { session_id: "s1" }, minutesAgo: 30 }).session_status).toBe("FINISHED");
  expect(findOne({ rules }).session_status).toBe("FINISHED");
});
