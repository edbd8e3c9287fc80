import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  double,
  integer,
  oneof,
  property,
  record,
  type Arbitrary,
} from "fast-check";
import { expect, test } from "vitest";
import { active, ruleSet } from "../../test/verdict.ts";
import type { StoredDecision } from "../domain/decision.ts";
import { moments } from "../domain/label.ts";
import { momentNames } from "../domain/moment.ts";
import type { Features } from "./catalogue.ts";
import { explain } from "./explanation.ts";
import { findingsOf } from "./finding.ts";
import { leadsOf, type Observed } from "./leads.ts";
import type { Tree } from "./model/trees.ts";
import { noModels, serve, type Serving } from "./model/serving.ts";
import { decisionText, judge, type RuleSet, type Verdict } from "./score.ts";
import type { LoginRatio } from "./entity.ts";
import { contextOf, findPlace, type RuleContext } from "./vector.ts";

const codeOf = (name: string) => findPlace(name)?.code ?? "";
const names = ["event.value", "account.device_is_new", "account.minutes_since_sensitive_change", "device.accounts_1h"];
const codes = names.map(codeOf);

const leaf = (value: number): Tree => ({ value, cover: 10 });
const above = (name: string, threshold: number, [left, right]: [number, number]): Tree => {
  return { field: codeOf(name), threshold, missing: "left", left: leaf(left), right: leaf(right) };
};

function serving(trees: Tree[], { a = 0, b = 1, released = [] as string[] } = {}): Serving {
  const model = { prior: { a, b }, trees, trained: { rows: 1, frauds: 1, seed: 1 } };
  const champions = Object.fromEntries(momentNames.map((moment) => [moment, serve(model, moment)]));
  return { ...noModels, champions, released: new Set(released) };
}

const sum = (parts: { log_odds: number }[]) => parts.reduce((total, each) => total + each.log_odds, 0);
const foundBy = (verdict: Verdict, observed: Observed) => findingsOf(leadsOf(verdict, observed), observed, 0);
const payment = (more: Features = {}) => contextOf({ "event.type": "payment", "event.value": 5, ...more }, {});
const raising = [above("event.value", 3, [-4, 4])];
const lowering = [above("event.value", 3, [4, -4])];

test("model: raises the score by itself, and says so in the decision and in the case", () => {
  const verdict = judgeBy(payment(), ruleSet(), null, serving(raising));
  expect(verdict).toMatchObject({ logOdds: 4, score: 4, model: { part: 4, rules: 0 } });
  const { m } = JSON.parse(decisionText(verdict, payment())) as StoredDecision;
  expect(m).toEqual([verdict.model?.served.shortId, 4]);
  expect(m?.[0]).toMatch(/^[0-9a-f]{12}$/);
  const [found] = foundBy(verdict, observedOf("payment"));
  expect(found?.finding).toMatchObject({
    score: 4,
    label: "Account Takeover",
    summary: "It resembles earlier frauds (Amount: 5).",
    explanation: {
      fraud_reason: "Resembles earlier frauds",
      model_behaviour: [{ type: "gradient-boosted-trees", model_name: `value_${m?.[0]}` }],
    },
  });
});

test("model: lowers the score that the rules give only if every rule that fired is released", () => {
  const set = ruleSet(active({ rule_id: "one", weight: 2 }), active({ rule_id: "two", weight: 1 }));
  const judged = (released: string[]) => judgeBy(payment(), set, null, serving(lowering, { released })).logOdds;
  expect([judged([]), judged(["one"]), judged(["one", "two"])]).toEqual([2.667, 2.667, -1]);
  expect(judgeBy(payment(), ruleSet(), null, serving(lowering)).logOdds).toBe(-4);
});

function judged(value: number, weight: number) {
  return judgeBy(payment(), ruleSet(active({ rule_id: "one", weight })), null, serving([{ value, cover: 1 }]));
}

test("model: if it may not lower the score, it still puts what the same rules found in order", () => {
  const parts = [0, -0.1, -1, -2, -5, -9, -40];
  const verdicts = parts.map((part) => judged(part, 2.7));
  expect(verdicts.map(({ score }) => score)).toEqual(parts.map(() => 3));
  expect(verdicts.map(({ logOdds }) => logOdds)).toEqual([2.7, 2.691, 2.634, 2.6, 2.558, 2.537, 2.51]);
  assert(
    property(double({ min: -50, max: 0, noNaN: true }), integer({ min: 0, max: 9999 }), (part, weight) => {
      const alone = judged(0, weight / 1000);
      const { score, logOdds } = judged(part, weight / 1000);
      expect(score).toBe(alone.score);
      expect(logOdds).toBeLessThanOrEqual(alone.logOdds);
    }),
  );
});

test("model: what the model may not subtract because of a rule is shown as a separate part", () => {
  const rule = active({ rule_id: "one", weight: 2 });
  const verdict = judgeBy(payment(), ruleSet(rule), null, serving(lowering));
  const explained = explainedBy(decisionText(verdict, payment()), serving(lowering), [rule]);
  expect(explained).toMatchObject({ log_odds: 1.334, recomputed: { log_odds: 1.334 }, model: { log_odds: -0.666 } });
  expect(explained.model?.contributions).toEqual([
    { name: "event.value", plain_name: "Amount", log_odds: -4 },
    { name: "model.held", plain_name: "Held back, because a rule fired", log_odds: 3.334 },
  ]);
});

test("model: lowers the score of a payee's case too, but only if its rule is released", () => {
  const set = ruleSet(active({ rule_id: "payee", weight: 2.7, about: "payee" }), active({ rule_id: "own", weight: 1 }));
  const observed = observedOf("payment");
  const activity = { ...observed.activity, payee_id: "p-1" };
  const ofPayee = (released: string[]) => {
    const models = serving(lowering, { released });
    const verdict = judgeBy(payment(), set, null, models);
    const lead = leadsOf(verdict, { ...observed, activity }).find(({ subject }) => subject === "payee:p-1")?.verdict;
    const { log_odds, recomputed } = explainedBy(decisionText(verdict, payment(), lead), models, set.rules);
    expect([log_odds, recomputed.log_odds]).toEqual([lead?.logOdds, lead?.logOdds]);
    return [lead?.logOdds, lead?.score];
  };
  expect(ofPayee(["payee", "own"])).toEqual([-1.3, 1]);
  // The account's case has room for -0.8. Here there is room for -0.2 only.
  expect(ofPayee(["payee"])).toEqual([2.5, 3]);
});

test("model: each moment has its own model, and no model rates what pages claim", () => {
  const { champions } = serving(raising);
  for (const moment of momentNames) {
    const only: Serving = { ...noModels, champions: { [moment]: champions[moment] } };
    const rated = [...Object.values(moments).flat(), "login_failed", "page_view", "fraud_report"].filter(
      (type) => judgeBy(contextOf({ "event.type": type, "event.value": 5 }, {}), ruleSet(), null, only).model,
    );
    expect(rated).toEqual(moments[moment]);
  }
  for (const source of ["page", "verified_session"])
    expect(judgeBy(payment({ "event.source": source }), ruleSet(), null, serving(raising)).model).toBeNull();
});

test("model: a challenger's rating is stored, and changes nothing else", () => {
  const { champions: challengers } = serving(raising);
  const verdict = judgeBy(payment(), ruleSet(), null, { ...noModels, challengers });
  expect(verdict).toMatchObject({ logOdds: 0, score: 1, model: null, challenger: { logOdds: 4 } });
  const { n, ...stored } = JSON.parse(decisionText(verdict, payment())) as StoredDecision;
  expect(n).toEqual([challengers.value?.shortId, 4]);
  expect(stored).toEqual(JSON.parse(decisionText(judgeBy(payment(), ruleSet(), null), payment())));
});

test("model: if it raises the score of a sign-up, the case is about the new account, and rules about the device count separately", () => {
  const set = ruleSet(active({ rule_id: "farm", weight: 3, about: "device" }));
  const context = contextOf({ "event.type": "signup", "event.value": 5 }, {});
  const found = foundBy(judgeBy(context, set, null, serving(raising)), observedOf("signup"));
  expect(found.map(({ subject, finding }) => [subject, finding.score, finding.label])).toEqual([
    ["account:a-1", 4, "Synthetic"],
    ["device:d-1", 3, "Bot"],
  ]);
});

const value = oneof(integer({ min: -4, max: 70 }), constantFrom(0, 1, 999_999), double({ noNaN: true, noDefaultInfinity: true }));
const features: Arbitrary<Features> = record({
  "event.type": constantFrom<string>(...Object.values(moments).flat()),
  "event.value": value,
  "account.device_is_new": boolean(),
  "account.minutes_since_sensitive_change": value,
  "device.accounts_1h": value,
});
const someLeaf: Arbitrary<Tree> = record({
  value: double({ min: -3, max: 3, noNaN: true }),
  cover: integer({ min: 1, max: 1000 }),
});
function someTree(depth: number): Arbitrary<Tree> {
  if (depth === 0) return someLeaf;
  const split = record({
    field: constantFrom(...codes, codeOf("event.type"), "zz"),
    threshold: integer({ min: -3, max: 60 }),
    missing: constantFrom("left" as const, "right" as const),
    left: someTree(depth - 1),
    right: someTree(depth - 1),
  });
  return oneof({ arbitrary: someLeaf, weight: 1 }, { arbitrary: split, weight: 3 });
}
const prior = record({ a: double({ min: -9, max: 9, noNaN: true }), b: double({ min: 0, max: 5, noNaN: true }) });
const rules = [active({ rule_id: "one", weight: 1.234 }), active({ rule_id: "two", weight: 3.1, expression: "event.value > 7" })];
const ratio = oneof(constant(null), double({ min: -3, max: 4, noNaN: true }));

test("model: rules, ratio, and the model's parts sum to the log-odds of every stored decision, and to those of its case", () => {
  const trees = array(someTree(4), { minLength: 1, maxLength: 4 });
  assert(
    property(features, trees, prior, ratio, boolean(), (given, grown, start, part, isReleased) => {
      const models = serving(grown, { ...start, released: isReleased ? ["one", "two"] : ["one"] });
      const context = contextOf(given, {});
      const login = part === null ? null : { total: part, history: 9, parts: [["device", part] as [string, number]] };
      const verdict = judgeBy(context, ruleSet(...rules), login, models);
      const text = decisionText(verdict, context);
      const shown = explainedBy(text, models, rules);
      const fired = shown.rules.reduce((total, { weight }) => total + weight, 0);
      const whole = fired + sum(shown.contributions) + sum(shown.model?.contributions ?? []);
      expect(shown.log_odds).toBe(verdict.logOdds);
      expect(Math.abs(whole - verdict.logOdds)).toBeLessThan(1e-9);
      expect(shown.recomputed.log_odds).toBe(verdict.logOdds);
      const type = String(given["event.type"]);
      for (const { finding } of type === "signup" ? [] : foundBy(verdict, observedOf(type, context))) {
        const contributors = (finding.explanation.model_behaviour ?? []).flatMap((each) => each.top_contributors);
        const total = contributors.reduce((all, { shap_value }) => all + shap_value, 0);
        expect(Math.abs(total - verdict.logOdds)).toBeLessThan(2e-3);
      }
    }),
  );
});

test("model: if it is no longer stored, its contribution is shown as a single part", () => {
  const text = decisionText(judgeBy(payment(), ruleSet(), null, serving(raising)), payment());
  expect(explainedBy(text, noModels, []).model).toMatchObject({
    log_odds: 4,
    contributions: [{ name: "model.other", log_odds: 4 }],
  });
});

function judgeBy(context: RuleContext, set: RuleSet, ratio: LoginRatio | null, models = noModels): Verdict {
  return judge(context, { ...set, serving: models }, ratio);
}

function explainedBy(text: string, { champions }: Serving, versions: typeof rules) {
  const decision = JSON.parse(text) as StoredDecision;
  const type = "payment";
  const found = Object.values(champions).find(({ shortId }) => shortId === decision.m?.[0]);
  return explain({ decision, attributes: {}, type, versions: versions.map(({ rule }) => rule), ...(found && { model: found }) });
}

function observedOf(type: string, context = contextOf({ "event.type": type, "event.value": 5 }, {})) {
  return {
    activity: {
      activity_id: "1",
      type,
      origin: "server" as const,
      occurred_at: "2026-11-15T09:30:00.000Z",
      received_at: "2026-11-15T09:30:00.000Z",
      website_account_id: "a-1",
      device_id: "d-1",
    },
    source: "server" as const,
    claimed: undefined,
    crowd: null,
    campaigns: new Map(),
    at: 0,
    address: null,
    network: "",
    context,
  };
}
