import { expect, test } from "vitest";
import { active, ruleSet } from "../../test/verdict.ts";
import { defaultThresholds } from "../domain/rule.ts";
import type { LoginRatio } from "./entity.ts";
import { valueKinds } from "./login-ratio.ts";
import { decisionText, judge, scoreOf } from "./score.ts";
import { contextOf, unpack } from "./vector.ts";

const ratioOf = (...parts: [string, number][]): LoginRatio => ({
  total: parts.reduce((sum, [, part]) => sum + part, 0),
  history: 9,
  parts,
});
const login = contextOf({ "event.type": "login_succeeded", "event.value": 5 }, {});

test("score: each score begins exactly at its threshold", () => {
  const { score_2, score_3, score_4, score_5 } = defaultThresholds;
  expect([-9, 0, score_2 - 0.001].map((logOdds) => scoreOf(logOdds, defaultThresholds))).toEqual([1, 1, 1]);
  expect([score_2, score_3 - 0.001].map((logOdds) => scoreOf(logOdds, defaultThresholds))).toEqual([2, 2]);
  expect([score_3, score_4 - 0.001].map((logOdds) => scoreOf(logOdds, defaultThresholds))).toEqual([3, 3]);
  expect([score_4, score_5 - 0.001].map((logOdds) => scoreOf(logOdds, defaultThresholds))).toEqual([4, 4]);
  expect([score_5, 99].map((logOdds) => scoreOf(logOdds, defaultThresholds))).toEqual([5, 5]);
  expect(scoreOf(0.4, { score_2: 0.1, score_3: 0.2, score_4: 0.3, score_5: 0.4 })).toBe(5);
});

test("judge: the log-odds are the sum of the fired rules' weights, and shadow rules add nothing", () => {
  const set = ruleSet(
    active({ rule_id: "a", weight: 1.1 }),
    active({ rule_id: "b", weight: 2.2 }),
    active({ rule_id: "quiet", weight: 4, expression: "event.value > 5" }),
    active({ rule_id: "watched", weight: 8, state: "shadow" }),
  );
  const verdict = judge(login, set, null);
  expect(verdict).toMatchObject({ revision: 7, logOdds: 3.3, score: 3, ratio: null, ratioParts: [] });
  expect(verdict.fired.map(({ rule }) => rule.rule_id)).toEqual(["a", "b"]);
  expect(verdict.shadow.map(({ rule }) => rule.rule_id)).toEqual(["watched"]);
});

test("judge: the ratio's parts sum to its contribution, which rises with the ratio, and keep their proportions", () => {
  const ratios = [-9, -5, -1, 0, 1, 2, 3, 4, 5, 7, 9].map((total) =>
    ratioOf(["device", total / 3], ["country", (2 * total) / 3]),
  );
  const verdicts = ratios.map((ratio) => judge(login, ruleSet(), ratio));
  for (const { logOdds, ratioParts } of verdicts) {
    expect(ratioParts.reduce((sum, [, part]) => sum + part, 0)).toBeCloseTo(logOdds, 6);
    const parts = Object.fromEntries(ratioParts);
    expect(parts["login.country"]).toBeCloseTo(2 * (parts["login.device"] ?? Number.NaN), 2);
  }
  const counted = verdicts.map(({ logOdds }) => logOdds);
  expect(counted).toEqual(counted.toSorted((a, b) => a - b));
  expect([Math.min(...counted) < 0, Math.max(...counted) > 0]).toEqual([true, true]);
});

test("judge: an unusual log-in alone gives score 3 and never 4", () => {
  const most = valueKinds.map((kind): [string, number] => [kind, 3]);
  expect(judge(login, ruleSet(), ratioOf(...most)).score).toBe(3);
});

test("judge: the ratio counts for log-ins, sensitive changes and money, and for no other event of the session", () => {
  const ratio = ratioOf(["device", 3], ["country", 3]);
  const rated = ["login_succeeded", "password_changed", "email_changed", "mfa_changed", "payee_added", "payment", "transfer"];
  const others = ["login_failed", "signup", "page_view", "logout", "fraud_report", "custom:x"];
  const isRated = (type: string) => judge(contextOf({ "event.type": type }, {}), ruleSet(), ratio).logOdds > 0;
  expect([...rated, ...others].filter(isRated)).toEqual(rated);
});

test("judge: a ratio without parts, because of too little history, counts nothing", () => {
  expect(judge(login, ruleSet(), { total: 0, history: 2, parts: [] })).toMatchObject({ logOdds: 0, ratio: null, ratioParts: [] });
});

test("decision: contains the revision, the log-odds, rules with versions, parts and features, but no default thresholds", () => {
  const verdict = judge(
    login,
    ruleSet(active({ rule_id: "a" }), active({ rule_id: "b", state: "shadow" })),
    ratioOf(["device", 3]),
  );
  const { f, ...stored } = JSON.parse(decisionText(verdict, login));
  expect(stored).toEqual({ v: 7, l: verdict.logOdds, r: { a: 1 }, s: { b: 1 }, c: verdict.ratioParts });
  expect(verdict.ratioParts.length).toBeGreaterThan(0);
  expect(unpack(f)).toEqual({ "event.type": "login_succeeded", "event.value": 5 });
});

test("decision: contains thresholds that the tenant has set", () => {
  const thresholds = { ...defaultThresholds, score_3: 3 };
  const verdict = judge(login, { ...ruleSet(), thresholds }, null);
  expect(JSON.parse(decisionText(verdict, login))).toMatchObject({ v: 7, l: 0, t: thresholds });
});

test("judge: a usual log-in reduces Account Takeover only, so a flagged account's owner still makes a case", () => {
  const usual = ratioOf(["device", -3], ["country", -1.2]);
  const organic = active({ rule_id: "a", weight: 3, label: "Organic" });
  const takeover = active({ rule_id: "b", weight: 3, label: "Account Takeover" });
  expect(judge(login, ruleSet(organic), usual)).toMatchObject({ logOdds: 3, score: 3 });
  expect(judge(login, ruleSet(takeover), usual)).toMatchObject({ logOdds: 1.5, score: 2 });
  expect(judge(login, ruleSet(organic, takeover), usual).logOdds).toBe(4.5);
});
