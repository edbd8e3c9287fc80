import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findDetection, insertRuleVersion, lockSettings, raiseRevision } from "../src/db/rules.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { eraseAccountFromLists } from "../src/db/list-erasure.ts";
import { deleteEntries, deleteList, saveEntries } from "../src/db/value-lists.ts";
import { Lists } from "../src/detection/lists.ts";
import { ListSets } from "../src/engine/list-sets.ts";
import type { NewList } from "../src/domain/list.ts";
import { draftRule } from "./decided.ts";
import { DetectionTenant } from "./detection.ts";
import { storeList } from "./lists-lab.ts";
import { Stage, type Step } from "./stage.ts";

// What somebody could try who knows the page's public key, or who chooses values that detection looks up.
const list = (more: Partial<NewList>): NewList => ({ name: "vip", type: "device", kind: "allow", ...more });
const spoken: Step = {
  minute: 0,
  type: "login_succeeded",
  website_account_id: "somebody",
  session_id: "other",
  device_id: "other",
  ip: "203.0.113.9",
};
const bot = { browser: { is_webdriver: true } };

// A robot at a page. Without lists, the default rules open a case about its device.
const robot = (more: Partial<Step>): Step[] =>
  Array.from({ length: 12 }, (_, index) => ({
    minute: 1 + index / 60,
    type: "login_succeeded",
    origin: "browser",
    session_id: "s1",
    device_id: "burner",
    ip: "198.51.100.7",
    ...bot,
    ...more,
  }));

async function listsOf({ tenant }: Stage): Promise<string[]> {
  const text = "select decision from activities where tenant_id = $1 and origin = 'browser'";
  const rows = await tenant.database.query<{ decision: string }>(statement(text, [tenant.tenantId]));
  return [...new Set(rows.flatMap(({ decision }) => (JSON.parse(decision).b ?? []).slice(1)))];
}

async function playRobot(more: Partial<Step>, given: NewList, value: string): Promise<Stage> {
  const stage = await Stage.open();
  await storeList(stage.tenant, given, [value]);
  await stage.play([spoken]);
  await stage.play(robot(more));
  return stage;
}

test("page: without lists, the robot's page opens a case about its device with score 3 at most", async () => {
  const stage = await Stage.open();
  await stage.play([spoken]);
  await stage.play(robot({}));
  expect(await stage.onlyCase()).toMatchObject({ subject: "device:burner", details: { overall_risk_score: 3 } });
});

test.each([
  ["account", { website_account_id: "ann" }, "ann"],
  ["device", { device_id: "phone" }, "phone"],
  ["email", { attributes: { email: "ann@example.com" } }, "ann@example.com"],
  ["email_domain", { attributes: { email: "ann@example.com" } }, "example.com"],
] as const)("page: naming what an allow list of type %s contains absolves nobody", async (type, more, value) => {
  const stage = await playRobot(more, list({ type }), value);
  expect(await stage.onlyCase()).toMatchObject({ details: { overall_risk_score: 3, recommended_action: "MONITOR" } });
  expect(await listsOf(stage)).toEqual([]);
});

test("page: an allow list of addresses applies, because a page cannot choose its address", async () => {
  const stage = await playRobot({}, list({ type: "ip" }), "198.51.100.7");
  expect(await stage.cases()).toEqual([]);
  expect(await listsOf(stage)).toEqual(["vip"]);
});

test("page: a rule's exception for an allow list cannot be claimed, by a value or by an attribute", async () => {
  const stage = await Stage.open();
  const { database, tenantId } = stage.tenant;
  await storeList(stage.tenant, list({}), ["phone"]);
  const { rule_version: _version, ...rule } = draftRule;
  const expression = 'event.origin == "browser" && !lists.vip.has(event.device_id) && !lists.vip.has(event.attributes.device)';
  await database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, "2026-11-15T00:00:00.000Z");
    const stamps = { updated_at: "2026-11-15T00:00:00.000Z", updated_by: "somebody" };
    await insertRuleVersion(tx, tenantId, { ...rule, expression, rule_id: "own", rule_version: 1, ...stamps });
    await raiseRevision(tx, tenantId);
  });
  await stage.play([spoken]);
  const played = await stage.play(robot({ device_id: "phone", attributes: { device: "phone" } }));
  expect(played.every(({ rules }) => rules.includes("own"))).toBe(true);
});

test("page: a session that a server has confirmed still cannot name an allowed device", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({}), ["phone"]);
  await storeList(stage.tenant, list({ name: "people", type: "account" }), ["ann"]);
  await stage.play([{ ...spoken, website_account_id: "ann", session_id: "s1" }]);
  await stage.play(robot({ website_account_id: "ann", device_id: "phone" }));
  expect(await listsOf(stage)).toEqual(["people"]);
});

test("page: what a block list contains gives a page score 3 and MONITOR at most, and never a case about an account", async () => {
  for (const [type, more, value] of [
    ["device", { device_id: "phone" }, "phone"],
    ["ip", {}, "198.51.100.0/24"],
    ["email", { attributes: { email: "eve@example.com" } }, "eve@example.com"],
  ] as const) {
    const stage = await playRobot({ ...more, website_account_id: "victim" }, list({ type, kind: "block" }), value);
    for (const found of await stage.cases()) {
      expect(found).toMatchObject({
        website_account_id: "UNKNOWN",
        details: { overall_risk_score: 3, recommended_action: "MONITOR" },
      });
    }
  }
});

test("page: naming a blocked account hits nothing", async () => {
  const stage = await playRobot({ website_account_id: "victim" }, list({ type: "account", kind: "block" }), "victim");
  expect(await listsOf(stage)).toEqual([]);
});

test("values: odd texts match only themselves", () => {
  const odd = ["__proto__", "constructor", "toString", "%", "_", "'", "a\u0301", "\u00e1", "A", "a", " a", "a ", "\u202ea"];
  for (const value of odd) {
    const lists = new Lists();
    lists.define([{ name: "constructor", type: "device", kind: "block", label: "Bot" }]);
    lists.set({ list_name: "constructor", key: value, expires_at: null });
    const found = odd.filter((device) => lists.view({ source: "server", values: { device } }, 0).hits.length > 0);
    expect(found).toEqual([value]);
  }
});

test("values: hostile e-mail addresses and user agents are looked up in linear time", () => {
  const lists = new Lists();
  lists.define([
    { name: "domains", type: "email_domain", kind: "block", label: "Bot" },
    { name: "agents", type: "user_agent", kind: "block", label: "Bot" },
    { name: "addresses", type: "ip", kind: "block", label: "Bot" },
  ]);
  for (let index = 0; index < 1_000; index++) {
    lists.set({ list_name: "agents", key: `${"a".repeat(200)}${index}b`, expires_at: null });
    lists.set({ list_name: "domains", key: `d${index}.example`, expires_at: null });
  }
  const values = { email_domain: `a@${"a.".repeat(512)}`, email: "", user_agent: "a".repeat(1024), ip: ":".repeat(45) };
  for (let round = 0; round < 2_000; round++) expect(lists.view({ source: "server", values }, 0).hits).toEqual([]);
});

const word = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  fc.record({
    does: fc.constant("make" as const),
    name: fc.constantFrom("one", "two"),
    type: fc.constantFrom("device" as const, "payee" as const),
  }),
  fc.record({ does: fc.constant("drop" as const), name: fc.constantFrom("one", "two") }),
  fc.record({
    does: fc.constant("add" as const),
    name: fc.constantFrom("one", "two"),
    values: fc.uniqueArray(word, { minLength: 1 }),
  }),
  fc.record({
    does: fc.constant("remove" as const),
    name: fc.constantFrom("one", "two"),
    values: fc.uniqueArray(word, { minLength: 1 }),
  }),
  fc.record({ does: fc.constant("erase" as const), value: word }),
  fc.record({ does: fc.constant("sync" as const) }),
);
type Change = typeof step extends fc.Arbitrary<infer T> ? T : never;

const seenBy = (lists: Lists | undefined) =>
  ["a", "b", "c", "d"].map((value) =>
    ["device" as const, "payee" as const].map((type) => {
      const view = lists?.view({ source: "server", values: { [type]: value } }, Date.now());
      return view?.hits.map(({ name }) => name);
    }),
  );

test("changes: an engine that reads only changes sees the same as one that starts anew, after any history", async () => {
  const tenant = await DetectionTenant.create();
  const { database, tenantId } = tenant;
  const kept = new ListSets();
  const current = async (sets: ListSets) => {
    const { lists_revision } = await findDetection(database, tenantId);
    return sets.current(database, tenantId, lists_revision);
  };
  const made = new Map<string, NewList["type"]>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (changes) => {
      for (const change of changes) await apply(change);
      expect(seenBy(await current(kept))).toEqual(seenBy(await current(new ListSets())));
    }),
    { numRuns: 40 },
  );
  await tenant.end();

  async function apply(change: Change): Promise<void> {
    if (change.does === "sync") return void (await Promise.all([current(kept), current(kept)]));
    if (change.does === "make") {
      if (!made.has(change.name)) await storeList(tenant, { name: change.name, type: change.type, kind: "watch" }, []);
      made.set(change.name, made.get(change.name) ?? change.type);
      return;
    }
    if (change.does !== "erase" && !made.has(change.name)) return;
    await database.transaction(async (tx) => {
      const now = new Date().toISOString();
      await lockSettings(tx, tenantId, now);
      if (change.does === "erase") {
        await eraseAccountFromLists(tx, tenantId, { id: change.value, pseudonym: "erased" });
      } else if (change.does === "drop") {
        await deleteList(tx, tenantId, change.name);
        made.delete(change.name);
      } else if (change.does === "add") {
        const entries = change.values.map((key) => ({ key, value: key, expires_at: null, reason: null, from_case_id: null }));
        await saveEntries(tx, tenantId, { list_name: change.name, now, actor: "somebody", entries });
      } else await deleteEntries(tx, tenantId, { list_name: change.name, keys: change.values });
    });
  }
});

test("changes: if the engine and a judgement at a deadline want the lists at the same time, they are read once", async () => {
  const tenant = await DetectionTenant.create();
  const { database, tenantId } = tenant;
  await storeList(tenant, list({}), ["phone"]);
  const { lists_revision } = await findDetection(database, tenantId);
  const sets = new ListSets();
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => sets.current(database, tenantId, lists_revision)));
  expect(first?.isEmpty).toBe(false);
  for (const other of others) expect(other).toBe(first);
  await tenant.end();
});
