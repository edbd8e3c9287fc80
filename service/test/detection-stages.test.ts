import { afterAll, beforeAll, expect, test } from "vitest";
import { attributeCases, measureFamilies } from "../../bench/detection-families.ts";
import { measureScene } from "../../bench/detection-scenes.ts";
import { SimulatedService } from "../../bench/detection-service.ts";
import { periodOf } from "../../bench/detection-shop.ts";
import { familiesText, scenesText, summariseFamilies } from "../../bench/detection-stage-table.ts";
import { familyKinds, type FraudTruth, type SessionTruth } from "@casehound/simulator/delivery";

// Runs small stages through the real collector, API and engine. What detection finds is measured, and not asserted here.
const period = periodOf({ days: 2, historyDays: 2 });
const shop = { seed: "stage-tune-1", users: 8, period, onProgress: (): void => {} };
let service: SimulatedService;

beforeAll(async () => {
  service = await SimulatedService.start(period);
}, 120_000);
afterAll(() => service.stop());

function truth(session_id: string, more: Partial<SessionTruth>): SessionTruth {
  const times = { first_ms: 1000, last_ms: 2000, logins_before: 0 };
  return {
    kind: "genuine",
    session_id,
    ip: "240.0.0.1",
    ...times,
    has_login: true,
    has_sensitive_change: false,
    has_value: true,
    ...more,
  };
}

const thief = truth("s", { kind: "session_hijack", attack_id: "h-1", website_account_id: "ann", first_ms: 5000 });
const fraud: FraudTruth = { kind: "session_hijack", attack_id: "h-1", session_id: "s", activities: [], known_ms: null };
const cased = {
  activity_id: "a",
  session_id: "s",
  website_account_id: "ann",
  case_id: "c-1",
  received_at: new Date(9000).toISOString(),
};

test("stages: a case belongs to the attack whose activity it has, and a case without one is false", () => {
  const subjects = new Map([
    ["c-1", "account:ann"],
    ["c-2", "account:bob"],
  ]);
  const happened = { truths: [truth("s", {}), thief], frauds: [fraud], cased: [cased], subjects, measuredMs: 0 };
  const { attacks, falseCases } = attributeCases(happened);
  expect(falseCases).toBe(1);
  expect(attacks).toMatchObject([{ kind: "session_hijack", msToCase: 4000, cases: new Set(["c-1"]), ownCase: new Set(["ann"]) }]);
  expect(summariseFamilies([{ attacks, falseCases, days: 1 }]).find(({ kind }) => kind === "session_hijack")).toMatchObject({
    attacks: 1,
    withCase: 1,
    accounts: 1,
    accountsInCase: 1,
    accountsWithOwnCase: 1,
  });
});

test("stages: what the owner did before the session was hijacked is not part of the attack, unless the ground truth names it", () => {
  const early = { ...cased, received_at: new Date(3000).toISOString() };
  const happened = {
    truths: [thief],
    frauds: [fraud],
    cased: [early],
    subjects: new Map([["c-1", "account:ann"]]),
    measuredMs: 0,
  };
  expect(attributeCases(happened)).toMatchObject({ falseCases: 1, attacks: [{ msToCase: null }] });
  const named = { ...fraud, activities: [{ activity_id: "a", type: "transfer" }] };
  expect(attributeCases({ ...happened, frauds: [named] }).falseCases).toBe(0);
});

test("stages: in a scene, one person closes all open cases once, and the table shows both halves", async () => {
  const result = await measureScene(service, "robots", shop);
  expect(result).toMatchObject({ scene: "robots", members: 8, days: 1 });
  expect(result.events).toBeGreaterThan(1000);
  expect(result.closed).toBeGreaterThanOrEqual(result.before.onAccounts + result.before.onSources);
  expect(scenesText([result], { seeds: ["s"], users: 8, days: 2, historyDays: 2 })).toContain("| robots ");
}, 240_000);

test("stages: every family of fraud is played and has a row", async () => {
  const run = await measureFamilies(service, shop);
  expect(new Set(run.attacks.map(({ kind }) => kind))).toEqual(new Set(familyKinds));
  for (const kind of familyKinds) expect(familiesText([run])).toContain(`| ${kind} `);
}, 240_000);
