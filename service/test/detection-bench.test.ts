import { expect, test } from "vitest";
import type { Decided } from "../../bench/detection-decided.ts";
import { isFinding, leadOf } from "../../bench/detection-decided.ts";
import { measure, thresholdAt } from "../../bench/detection-measure.ts";
import { summarise } from "../../bench/detection-summary.ts";
import { tableText } from "../../bench/detection-table.ts";
import type { SessionTruth } from "@casehound/simulator/delivery";

const minuteMs = 60_000;

function truth(session_id: string, more: Partial<SessionTruth> = {}): SessionTruth {
  return {
    kind: "genuine",
    session_id,
    website_account_id: "ann",
    ip: "240.0.0.1",
    first_ms: 0,
    last_ms: 5 * minuteMs,
    logins_before: 12,
    has_login: true,
    has_sensitive_change: false,
    has_value: false,
    ...more,
  };
}

function decided(session: string, more: Partial<Decided> = {}): Decided {
  return {
    receivedMs: minuteMs,
    type: "login_succeeded",
    account: "ann",
    session,
    caseId: null,
    logOdds: -1,
    modelPart: 0,
    isJudged: true,
    isRuled: true,
    rules: [],
    ratioPart: -1,
    ratio: -2,
    hasVelocity: false,
    ...more,
  };
}

const thief = truth("thief", { kind: "takeover_vpn", attack_id: "t-1", first_ms: 10 * minuteMs, has_value: true });
const found = { logOdds: 3.2, rules: ["change_then_value"], type: "transfer", caseId: "case-1" };

test("bench: an attack is caught at its first finding, counted in events and minutes since its own first event", () => {
  const events = [
    decided("thief", { receivedMs: 11 * minuteMs }),
    decided("thief", { ...found, receivedMs: 13 * minuteMs }),
    decided("thief", { ...found, receivedMs: 14 * minuteMs }),
  ];
  const { attacks, genuine } = measure({ truths: [thief], decided: events, labelOf: () => "Account Takeover", measuredMs: 0 });
  expect(genuine).toEqual([]);
  expect(attacks).toMatchObject([
    {
      hasFinding: true,
      eventsToFinding: 2,
      msToFinding: 3 * minuteMs,
      hasActed: true,
      labels: ["Account Takeover"],
      logOdds: 3.2,
    },
  ]);
  expect(summarise([{ attacks, genuine, falseCases: 0, aftermath: 0, guests: 0 }]).kinds[1]).toMatchObject({
    attacks: 1,
    case: 1,
  });
});

test("bench: a case for a genuine session is false, unless a stranger was in the account", () => {
  const truths = [truth("before"), thief, truth("after", { first_ms: 20 * minuteMs, last_ms: 30 * minuteMs })];
  const events = [decided("before", { ...found, caseId: "case-0" }), decided("after", found)];
  const measured = measure({ truths, decided: events, labelOf: () => "Account Takeover", measuredMs: 0 });
  expect(measured).toMatchObject({ falseCases: 1, aftermath: 1, guests: 0 });
  expect(measured.genuine).toMatchObject([{ hasFinding: true, lead: "change_then_value" }]);
  expect(measured.attacks).toMatchObject([{ hasFinding: false, labels: [] }]);
});

test("bench: sessions of the history, of guests and without a finding do not count as false", () => {
  const { website_account_id: _member, ...guest } = truth("guest", { first_ms: 9 });
  const events = [decided("old", found), decided("guest", found), decided("usual")];
  const truths = [truth("old"), guest, truth("usual", { first_ms: 9 })];
  const measured = measure({ truths, decided: events, labelOf: () => "Bot", measuredMs: 5 });
  expect(measured).toMatchObject({ falseCases: 0, guests: 1, genuine: [{ hasFinding: false, ratio: -2, logOdds: -1 }] });
});

test("bench: an attack that began before the measured period does not count, and its victim's next sessions are left out", () => {
  const truths = [
    thief,
    { ...thief, session_id: "again", first_ms: 12 * minuteMs },
    truth("after", { first_ms: 20 * minuteMs, last_ms: 30 * minuteMs }),
  ];
  const events = [decided("again", found), decided("after", found)];
  const measured = measure({ truths, decided: events, labelOf: () => "Account Takeover", measuredMs: 11 * minuteMs });
  expect(measured).toEqual({ attacks: [], genuine: [], falseCases: 0, aftermath: 1, guests: 0 });
});

test("bench: what a model adds to a sign-up counts against the account, and it is the reason if it weighs most", () => {
  const signup = { type: "signup", modelPart: 3, logOdds: 3 };
  expect(isFinding(decided("s", signup))).toBe(true);
  expect(leadOf(decided("s", signup))).toBe("model");
  expect(isFinding(decided("s", { type: "signup", rules: ["signups_device"], modelPart: -2, logOdds: 1 }))).toBe(false);
});

test("bench: a failed log-in is a finding if the account's or the source's rules are enough, but not by their sum", () => {
  const failed = { type: "login_failed", logOdds: 6 };
  expect(isFinding(decided("s", { ...failed, rules: ["stuffing_slow"] }))).toBe(true);
  expect(isFinding(decided("s", { ...failed, rules: ["stuffing_device"] }))).toBe(true);
  expect(isFinding(decided("s", { ...failed, rules: ["no_browser"] }))).toBe(false);
  expect(leadOf(decided("s", { rules: ["no_browser"], ratioPart: 2 }))).toBe("unusual log-in");
});

test("bench: a page's finding without an account, or with a claimed one, is attributed to the attack of its session", () => {
  const farm = truth("farm", { kind: "signup_farm", attack_id: "f-1", website_account_id: "made", has_login: false });
  const events = [decided("farm", { type: "signup", account: null, rules: ["signups_device"], logOdds: 3, caseId: "case-1" })];
  const { attacks } = measure({ truths: [farm], decided: events, labelOf: () => "Synthetic", measuredMs: 0 });
  expect(attacks).toMatchObject([{ hasFinding: true, labels: ["Synthetic"], entered: new Set(["made"]), found: new Set() }]);
});

test("bench: an attack that sent nothing does not count as heard, and a kind without attacks gets no row", () => {
  const { attacks } = measure({ truths: [thief], decided: [], labelOf: () => "Bot", measuredMs: 0 });
  const summary = summarise([{ attacks, genuine: [], falseCases: 0, aftermath: 0, guests: 0 }]);
  expect(summary.kinds[1]).toMatchObject({ kind: "takeover_vpn", attacks: 1, heard: 0, case: 0 });
  const text = tableText("snippet", summary, { seeds: ["s"], users: 1, days: 1, historyDays: 1 });
  expect(text).toContain("| takeover_vpn     |       1 |           0 |                |");
  expect(text).not.toContain("friendly_fraud");
});

test("bench: of 100 genuine scores, one is above the 1 % threshold and five are above the 5 % threshold", () => {
  const scores = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
  for (const [share, above] of [
    [0.01, 1],
    [0.05, 5],
  ] as const) {
    expect(scores.filter((score) => score > thresholdAt(scores, share))).toHaveLength(above);
  }
});
