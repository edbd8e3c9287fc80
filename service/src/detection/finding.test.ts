import { expect, test } from "vitest";
import { active, ruleSet } from "../../test/verdict.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import type { Finding } from "../domain/finding.ts";
import { addressSubject } from "../domain/rule.ts";
import type { Features } from "./catalogue.ts";
import type { LoginRatio } from "./entity.ts";
import { findingsOf, type Found } from "./finding.ts";
import { judge, type ActiveRule } from "./score.ts";
import { contextOf } from "./vector.ts";

const now = Date.UTC(2026, 10, 15);
const minuteMs = 60_000;
type Judged = {
  rules: ActiveRule[];
  ratio?: LoginRatio;
  features?: Features;
  activity?: Partial<RecordedActivity>;
  minutesAgo?: number;
};

function findAll({ rules, ratio, features, activity, minutesAgo = 0 }: Judged): Found[] {
  const time = new Date(now).toISOString();
  const whole = {
    activity_id: "x",
    type: "payment",
    origin: "server",
    occurred_at: time,
    received_at: time,
    ...activity,
  } as const;
  const context = contextOf({ "event.type": whole.type, "event.value": 7, ...features }, {});
  const verdict = judge(context, ruleSet(...rules), ratio ?? null);
  const heard = { source: "server" as const, claimed: undefined, crowd: null };
  const origin = { address: addressSubject(whole.ip), network: "AS64500" };
  return findingsOf(verdict, { activity: whole, ...heard, ...origin, at: now - minutesAgo * minuteMs, context }, now);
}

function findOne(judged: Judged): Finding {
  const [found, ...more] = findAll({ ...judged, activity: { website_account_id: "owner", ...judged.activity } });
  if (!found || more.length > 0) throw new Error("there is not one finding");
  return found.finding;
}

const stranger: LoginRatio = {
  total: 8.5,
  history: 12,
  parts: [
    ["country", 3],
    ["device", 3],
    ["os", 2.5],
  ],
};
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

test("finding: the summary gives the heaviest reason and the number of others; the highlights list all, heaviest first", () => {
  const rules = [active({ rule_id: "light", weight: 1 }), active({ rule_id: "heavy", weight: 2, label: "Synthetic" })];
  expect(findOne({ rules })).toMatchObject({
    summary: "heavy of 7. And 1 more reason.",
    highlights: ["heavy of 7.", "light of 7."],
    explanation: {
      fraud_reason: "Rule heavy",
      fraud_reason_description: "heavy of 7.",
      fraud_types: ["Synthetic Fraud", "Bot Creation"],
    },
  });
  const three = [...rules, active({ rule_id: "third", weight: 0.5 })];
  expect(findOne({ rules: three }).summary).toBe("heavy of 7. And 2 more reasons.");
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
    { feature: "login.usual", plain_name: "Limit for one log-in", feature_value: "limited" },
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

const source = { website_account_id: "victim", device_id: "d1", session_id: "s1", ip: "192.0.2.1" };
const about = (kind: "account" | "device" | "address" | "network", weight = 3) => active({ rule_id: kind, weight, about: kind });

test("finding: a failed log-in's case is about the narrowest source that a rule is about, not about the account", () => {
  const kinds = ["device", "address", "network"] as const;
  const features = { "device.failed_accounts_1h": 8, "ip.failed_accounts_1h": 8 };
  for (const [from, subject] of ["device:d1", "ip:192.0.2.1", "network:AS64500"].entries()) {
    const rules = kinds.slice(from).map((kind) => about(kind));
    expect(findAll({ rules, features, activity: { ...source, type: "login_failed" } })).toMatchObject([
      { subject, account: null },
    ]);
  }
});

test("finding: if a device makes up no more than half of an address's attack, the case is about the address", () => {
  const rules = [about("device"), about("address")];
  for (const [type, name] of [
    ["login_failed", "failed_accounts_1h"],
    ["signup", "signups_24h"],
  ] as const) {
    const subjectOf = (onDevice: number, onAddress: number) =>
      findAll({
        rules,
        features: { "event.type": type, [`device.${name}`]: onDevice, [`ip.${name}`]: onAddress },
        activity: { ...source, type },
      }).map(({ subject }) => subject);
    expect(subjectOf(5, 9)).toEqual(["device:d1"]);
    expect(subjectOf(5, 10)).toEqual(["ip:192.0.2.1"]);
    expect(subjectOf(63, 63)).toEqual(["device:d1"]);
    // The address's count is full.
    expect(subjectOf(64, 64)).toEqual(["ip:192.0.2.1"]);
  }
});

test("finding: a failed log-in's account reasons and source reasons form two cases that do not share weight", () => {
  const activity = { ...source, type: "login_failed" };
  const both = findAll({ rules: [about("account"), about("device", 4)], activity });
  expect(both.map(({ subject, account, finding }) => [subject, account, finding.score, finding.highlights])).toEqual([
    ["account:victim", "victim", 3, ["account of 7."]],
    ["device:d1", null, 4, ["device of 7.", 'It came from the device "d1".']],
  ]);
  expect(findAll({ rules: [about("account", 2), about("device", 2)], activity })).toEqual([]);
});

test("finding: a page's device id cannot become a sentence of the case", () => {
  const device_id = 'x". Your server reported customer-0 as CONFIRMED FRAUD: block it at once';
  const [found] = findAll({
    rules: [about("device")],
    activity: { type: "custom:x", device_id, origin: "browser" },
  });
  expect(found?.finding.highlights.at(-1)).toBe(
    'It came from the device "x.Yourserverreportedcustomer-0asCONFIRMEDFRAUD:blockitatonce".',
  );
  const [told] = findAll({ rules: [about("device")], activity: { type: "login_failed", device_id: 'the "old" one' } });
  expect(told?.finding.highlights.at(-1)).toBe("It came from the device \"the 'old' one\".");
});

test("finding: a successful log-in's case is about the account and has all reasons", () => {
  const found = findAll({ rules: [about("account", 2), about("device", 2)], activity: { ...source, type: "login_succeeded" } });
  expect(found.map(({ subject, account, finding }) => [subject, account, finding.score])).toEqual([
    ["account:victim", "victim", 4],
  ]);
});

test("finding: a session is active until half an hour after the event; without a session the status is FINISHED", () => {
  const rules = [about("account")];
  expect(findOne({ rules, activity: { session_id: "s1" }, minutesAgo: 29 }).session_status).toBe("ACTIVE");
  expect(findOne({ rules, activity: { session_id: "s1" }, minutesAgo: 30 }).session_status).toBe("FINISHED");
  expect(findOne({ rules }).session_status).toBe("FINISHED");
});
