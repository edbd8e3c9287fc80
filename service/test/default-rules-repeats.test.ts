import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { defaultRules } from "../src/detection/default-rules.ts";
import { Stage, type StagedCase, type Step } from "./stage.ts";

test("default rules: each has a test in which it fires and one in which it does not", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.startsWith("default-rules-"));
  const text = files.map((name) => readFileSync(join(import.meta.dirname, name), "utf8")).join("\n");
  const names = [...text.matchAll(/^test\("rule (\w+): (.+)", async/gm)];
  const saysNo = /not enough|not an attack|is not|has not traveled|no rhythm|fast enough/;
  const firing = new Set(names.filter(([, , says = ""]) => !saysNo.test(says)).map(([, id]) => id));
  const quiet = new Set(names.filter(([, , says = ""]) => saysNo.test(says)).map(([, id]) => id));
  const ids = defaultRules.map(({ rule_id }) => rule_id);
  expect(ids.filter((id) => !firing.has(id))).toEqual([]);
  expect(ids.filter((id) => !quiet.has(id))).toEqual([]);
});

// An engine clock that the test can advance.
function movable(): { minutes: number; clock: typeof clock } {
  const begun = Date.now();
  const moved = { minutes: 0, clock: { ...clock, now: () => new Date(begun + moved.minutes * 60_000).toISOString() } };
  return moved;
}

const fail = (minute: number, more: Partial<Step> = {}): Step => ({
  minute,
  type: "login_failed",
  device_id: "kiosk",
  session_id: "s1",
  ...more,
});
const attack = [0, 1, 2, 3, 4].map((minute) => fail(minute, { website_account_id: `user-${minute}` }));

function sizeOf({ case_version, fraud_occurrences, state_history }: StagedCase): number[] {
  return [case_version, Object.keys(fraud_occurrences).length, state_history.length];
}

function repeatsOf({ fraud_occurrences }: StagedCase) {
  return Object.values(fraud_occurrences).map(({ count, first_at, last_at }) => ({ count, first_at, last_at }));
}

// The list of accounts grows with the attack, like the counts.
function withoutCounts({ fraud_occurrences, details: { members: _members, ...details }, ...found }: StagedCase) {
  return { ...found, details, fraud_occurrences: Object.keys(fraud_occurrences) };
}

test("repeats: the same reasons from any session, device and address, however late, are counted and change nothing else", async () => {
  const time = movable();
  const stage = await Stage.open({ clock: time.clock });
  await stage.play(attack);
  const opened = await stage.onlyCase();
  expect(sizeOf(opened)).toEqual([1, 1, 0]);
  const [{ first_at } = {}] = repeatsOf(opened);
  expect(repeatsOf(opened)).toEqual([{ count: 1, first_at, last_at: first_at }]);
  await stage.play([fail(5, { website_account_id: "user-5" }), fail(6, { website_account_id: "user-6", session_id: "s2" })]);
  time.minutes = 30;
  const repeated = await stage.playLast([fail(7, { website_account_id: "user-7", ip: "192.0.2.7" })]);
  expect(repeated).toMatchObject({ rules: ["stuffing_device"], score: 3 });
  const after = await stage.onlyCase();
  expect(withoutCounts(after)).toEqual(withoutCounts(opened));
  expect(repeatsOf(after)).toEqual([{ count: 4, first_at, last_at: stage.at(7) }]);
});

test("repeats: repeats within one batch are counted too", async () => {
  const stage = await Stage.open();
  const more = [5, 6, 7, 8, 9].map((minute) => fail(minute, { website_account_id: `user-${minute}` }));
  await stage.play([...attack, ...more]);
  const found = await stage.onlyCase();
  expect(sizeOf(found)).toEqual([1, 1, 0]);
  expect(repeatsOf(found)).toMatchObject([{ count: 6, last_at: stage.at(9) }]);
});

test("repeats: the same reason in another session of an account is only counted", async () => {
  const stage = await Stage.open();
  const robot = { type: "login_succeeded", website_account_id: "owner", user_agent: "curl/8.5.0" };
  await stage.play(["s1", "s1", "s2"].map((session_id, index) => ({ minute: 20 + index, ...robot, session_id })));
  const ofOwner = await stage.onlyCase();
  expect(sizeOf(ofOwner)).toEqual([1, 1, 0]);
  expect(repeatsOf(ofOwner)).toEqual([{ count: 3, first_at: stage.at(20), last_at: stage.at(22) }]);
});

test("repeats: an additional rule is new evidence, and a weaker repetition of the first is not", async () => {
  const stage = await Stage.open();
  const owner = { website_account_id: "owner", session_id: "s1" };
  const pay = (minute: number, amount: number): Step => ({ minute, type: "payment", ...owner, attributes: { amount } });
  await stage.play([pay(0, 20), pay(1, 20), pay(2, 20), pay(3, 20), pay(4, 20), pay(60, 250)]);
  expect(sizeOf(await stage.onlyCase())).toEqual([1, 1, 0]);
  await stage.play([{ minute: 61, type: "payee_added", ...owner }, pay(62, 300)]);
  const risen = await stage.onlyCase();
  expect(sizeOf(risen)).toEqual([2, 2, 1]);
  expect(risen.details.overall_risk_score).toBe(4);
  await stage.play([pay(300, 260)]);
  const repeated = await stage.onlyCase();
  expect(withoutCounts(repeated)).toEqual(withoutCounts(risen));
  expect(repeatsOf(repeated).map(({ count }) => count)).toEqual([2, 1]);
});

test("repeats: every report is new evidence", async () => {
  const stage = await Stage.open();
  const report: Step = { minute: 0, type: "fraud_report", website_account_id: "owner", session_id: "s1" };
  await stage.play([report, report]);
  expect(sizeOf(await stage.onlyCase())).toEqual([2, 2, 1]);
  await stage.play([report]);
  expect(sizeOf(await stage.onlyCase())).toEqual([3, 3, 2]);
});

test("repeats: tries on unknown names, each in its own session, make one case for the address", async () => {
  const stage = await Stage.open();
  const tries = Array.from({ length: 16 }, (_, index): Step => ({
    minute: index / 4,
    type: "login_failed",
    ip: "192.0.2.7",
    session_id: `s${index}`,
    ...(index % 4 !== 3 && { website_account_id: `user-${index}` }),
  }));
  await stage.play(tries);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "ip:192.0.2.7", website_account_id: "UNKNOWN" });
  expect(sizeOf(found)).toEqual([1, 1, 0]);
  expect(found.details.highlights).toContain("It came from the address 192.0.2.7.");
});
