import { expect, test } from "vitest";
import { active, ruleSet } from "../../test/verdict.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { dampedLead, dampingOf, traitsOf, type PastOutcome } from "./damping.ts";
import type { Lead } from "./leads.ts";
import type { EnrichedActivity } from "./scene.ts";
import { decisionText, judge } from "./score.ts";
import { contextOf } from "./vector.ts";

const now = Date.UTC(2026, 10, 15);
const dayMs = 24 * 60 * 60 * 1000;
const closed = (daysAgo: number, more: Partial<PastOutcome> = {}): PastOutcome => ({
  case_id: `case-${daysAgo}`,
  isFraud: false,
  decidedMs: now - daysAgo * dayMs,
  size: 0,
  ...more,
});
const take = (past: PastOutcome[], size = 0) => dampingOf(4, past, { at: now, size });

test("damping: a false positive subtracts the whole weight at first, less each day, and nothing after 30 days", () => {
  expect(take([closed(0)])).toEqual({ logOdds: -4, times: 1 });
  expect(take([closed(15)])).toEqual({ logOdds: -2, times: 1 });
  expect(take([closed(30)])).toBeNull();
  // An event that was reported late may be older than the decision.
  expect(take([closed(-1)])).toEqual({ logOdds: -4, times: 1 });
});

test("damping: several false positives add up, but never to more than the weight, and a case with several common traits counts once", () => {
  expect(take([closed(15), closed(24)])).toEqual({ logOdds: -2.8, times: 2 });
  expect(take([closed(1), closed(2), closed(3)])).toEqual({ logOdds: -4, times: 3 });
  expect(take([closed(15), closed(15)])).toEqual({ logOdds: -2, times: 1 });
});

test("damping: a confirmed fraud ends the effect of all false positives before it", () => {
  expect(take([closed(5), closed(3, { isFraud: true })])).toBeNull();
  expect(take([closed(5), closed(3, { isFraud: true }), closed(0)])).toEqual({ logOdds: -4, times: 1 });
});

test("damping: an attack more than twice as large as the one that was judged is not damped", () => {
  expect(take([closed(0, { size: 8 })], 16)).toEqual({ logOdds: -4, times: 1 });
  expect(take([closed(0, { size: 8 })], 17)).toBeNull();
});

const eventOf = (activity: Partial<RecordedActivity>) =>
  ({ activity: { type: "login_failed", ...activity }, network: "AS64500" }) as EnrichedActivity;
const leadOf = (subject: string, account: string | null = null) => ({ subject, account }) as Lead;
const from = { device_id: "d1", ip: "192.0.2.7", user_agent: "A browser" };

test("damping: a look-alike of a source has the same source, device or block, or the same agent and network if nobody is attacked", () => {
  const source = ["ip:192.0.2.7", "device:d1", "block:192.0.2.0/24"];
  expect(traitsOf(leadOf("ip:192.0.2.7"), eventOf({ ...from, website_account_id: "victim" }))).toEqual(source);
  expect(traitsOf(leadOf("device:d1"), eventOf({ ...from, type: "page_view" }))).toEqual([
    "device:d1",
    "block:192.0.2.0/24",
    "look:AS64500 A browser",
  ]);
  expect(traitsOf(leadOf("campaign:slow:now"), eventOf(from))).toEqual(["campaign:slow:now"]);
});

test("damping: a look-alike of an account's evidence is the same account, and its payee only if neither device nor address is known", () => {
  const traits = traitsOf(leadOf("account:a", "a"), eventOf({ ...from, website_account_id: "a", payee_id: "shop" }));
  expect(traits).toEqual(['account:["a","device:d1"]', 'account:["a","block:192.0.2.0/24"]']);
  expect(traitsOf(leadOf("account:a", "a"), eventOf({ website_account_id: "a" }))).toEqual(['account:["a",""]']);
  const paid = eventOf({ website_account_id: "a", payee_id: "shop" });
  expect(traitsOf(leadOf("account:a", "a"), paid)).toEqual(['account:["a","payee:shop"]']);
});

test("damping: an account whose id looks like another account with its device is not a look-alike of it", () => {
  const victim = traitsOf(leadOf("account:a", "a"), eventOf({ device_id: "d1", website_account_id: "a" }));
  for (const name of ["a device:d1", 'a","device:d1', '["a","device:d1"]']) {
    const own = traitsOf(leadOf(`account:${name}`, name), eventOf({ website_account_id: name }));
    expect(own.filter((trait) => victim.includes(trait))).toEqual([]);
  }
});

test("damping: only the rule with the false positive is damped, and the parts of the stored decision still sum to its log-odds", () => {
  const context = contextOf({ "event.type": "page_view" }, {});
  const verdict = judge(context, ruleSet(active({ rule_id: "a", weight: 3 }), active({ rule_id: "b", weight: 2.7 })), null);
  const lead: Lead = { verdict, subject: "device:d1", account: null, size: 0 };
  const damped = dampedLead(lead, (rule) => (rule === "a" ? [closed(15)] : []), now);
  expect(damped.verdict).toMatchObject({ logOdds: 4.2, score: 4, damped: [{ rule_id: "a", logOdds: -1.5, times: 1 }] });
  const stored = JSON.parse(decisionText(verdict, context, damped.verdict));
  expect(stored).toMatchObject({ l: 4.2, c: [["damped.a", -1.5, 1]] });
  expect(dampedLead(lead, () => [], now)).toBe(lead);
});
