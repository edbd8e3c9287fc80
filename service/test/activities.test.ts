import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { activityTypes } from "../src/domain/activity.ts";
import { scopes } from "../src/domain/scope.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { badMembers } from "./bad-members.ts";
import { listWaiting } from "./inbox.ts";
import { TestTenant, newDetector, expectProblem, type Answer } from "./harness.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);
const bytesMax = 2 * 1024 * 1024;

type Fields = Record<string, unknown>;
const activity = (more: Fields = {}): Fields => ({
  activity_id: randomUUID(),
  type: "page_view",
  occurred_at: "2026-05-01T10:00:00.000Z",
  ...more,
});

const post = (tenant: TestTenant, activities: unknown): Promise<Answer> =>
  tenant.call("POST", "/activities", { body: { activities } });

async function stored(tenant: TestTenant): Promise<Fields[]> {
  const waiting = await listWaiting(tenant.service.database, tenant.tenantId);
  const sorted = waiting.toSorted((a, b) => (a.activity_id < b.activity_id ? -1 : 1));
  return sorted.map(({ origin, received_at, ...activity }) => {
    expect({ origin, received_at }).toEqual({ origin: "server", received_at: expect.stringMatching(/Z$/) });
    return activity;
  });
}

async function expectRefused(tenant: TestTenant, activities: unknown, fields: string[]): Promise<void> {
  const problem = expectProblem(await post(tenant, activities), 422, "validation-error");
  expect(problem.errors?.map((each) => each.field)).toEqual(fields);
  expect(await stored(tenant)).toEqual([]);
}

const byId = (a: Fields, b: Fields) => (String(a["activity_id"]) < String(b["activity_id"]) ? -1 : 1);

test("POST activities 202: every type and every member is stored as sent before the response", async () => {
  const tenant = await newTenant();
  const whole = {
    website_account_id: " user/é ",
    session_id: "s".repeat(128),
    device_id: "d".repeat(128),
    ip: "203.0.113.9",
    user_agent: "Mozilla/5.0 (e\u0301)",
    attributes: { text: " a ", number: -1.5, zero: 0, yes: true, no: false, empty: "" },
  };
  const types = [...activityTypes, "custom:x", `custom:${"n".repeat(64)}`, "custom:Cart.add_to-cart"];
  const sent = [
    ...types.map((type) => activity({ type })),
    activity(whole),
    activity({ activity_id: "i", ip: "2001:db8::1" }),
    activity({ activity_id: "😀".repeat(64), website_account_id: "unknown", attributes: {} }),
  ];
  const answer = await post(tenant, sent);
  expect(answer.status).toBe(202);
  expect(answer.json).toEqual({ data: { accepted: sent.length, duplicates: 0 } });
  expect((await stored(tenant)).toSorted(byId)).toEqual(sent.toSorted(byId));
});

test("POST activities 202: a batch holds 1 to 1,000 activities", async () => {
  const tenant = await newTenant();
  for (const count of [1, 1000]) {
    const answer = await post(
      tenant,
      Array.from({ length: count }, () => activity()),
    );
    expect(answer.json.data).toEqual({ accepted: count, duplicates: 0 });
  }
  expect(await stored(tenant)).toHaveLength(1001);
});

test.each([0, 1001])("POST activities 422: a batch of %i activities is rejected", async (count) => {
  const many = Array.from({ length: count }, () => activity());
  await expectRefused(await newTenant(), many, ["activities"]);
  expect(many).toHaveLength(count);
});

test("POST activities 202, 413: a body of 2 MiB is accepted, and one byte more stores nothing", async () => {
  const tenant = await newTenant();
  const text = JSON.stringify({ activities: [activity()] });
  const over = await tenant.call("POST", "/activities", { rawBody: text.padEnd(bytesMax + 1) });
  expectProblem(over, 413, "payload-too-large");
  expect(await stored(tenant)).toEqual([]);
  expect((await tenant.call("POST", "/activities", { rawBody: text.padEnd(bytesMax) })).status).toBe(202);
  expect(await stored(tenant)).toHaveLength(1);
});

test("POST activities 202: a duplicate within the batch or of an earlier batch is counted and changes nothing", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  const first = activity({ activity_id: "one" });
  const inside = await post(tenant, [first, activity({ activity_id: "one", type: "logout" }), activity({ activity_id: "two" })]);
  expect(inside.json.data).toEqual({ accepted: 2, duplicates: 1 });
  const before = await stored(tenant);
  expect(before[0]).toEqual(first);
  const across = await post(tenant, [activity({ activity_id: "two", type: "payment" }), activity({ activity_id: "one" })]);
  expect(across.json.data).toEqual({ accepted: 0, duplicates: 2 });
  expect(await stored(tenant)).toEqual(before);
  expect((await post(other, [first])).json.data).toEqual({ accepted: 1, duplicates: 0 });
});

test("POST activities 202: a batch sent ten times concurrently is accepted once", async () => {
  const tenant = await newTenant();
  const batch = Array.from({ length: 50 }, () => activity());
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => post(tenant, n % 2 === 0 ? batch : batch.toReversed())));
  expect(answers.map((each) => each.status)).toEqual(Array.from({ length: 10 }, () => 202));
  const counts = answers.map((each) => each.json.data as { accepted: number; duplicates: number });
  expect(counts.reduce((sum, each) => sum + each.accepted, 0)).toBe(50);
  expect(counts.every((each) => each.accepted + each.duplicates === 50)).toBe(true);
  expect(await stored(tenant)).toHaveLength(50);
});

test.each(Object.entries(badMembers))(
  "POST activities 422: an invalid %s rejects the whole batch, and is reported with its position",
  async (name, values) => {
    const tenant = await newTenant();
    const [outer = "", inner] = name.split(".");
    const place = (value: unknown) => ({ [outer]: inner === undefined ? value : { [inner]: value } });
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const batch = [activity(), activity(), activity(), activity(place(value)), activity()];
      await expectRefused(tenant, batch, [`activities[3].${name}`]);
    }
  },
);

test("POST activities 422: all errors are reported at once, in body order", async () => {
  const tenant = await newTenant();
  const batch = [activity({ type: "x", nonsense: 1 }), activity(), 7, null, [], activity({ ip: "x", attributes: { a: null } })];
  const fields = ["[0].type", "[0].nonsense", "[2]", "[3]", "[4]", "[5].ip", "[5].attributes.a"];
  await expectRefused(
    tenant,
    batch,
    fields.map((field) => `activities${field}`),
  );
  expect(fields).toHaveLength(7);
});

test("POST activities 422: a reserved account id and another error are reported together", async () => {
  const tenant = await newTenant();
  const fields = ["activities[0].website_account_id", "activities[1].type"];
  await expectRefused(tenant, [activity({ website_account_id: "UNKNOWN" }), activity({ type: "x" })], fields);
  expect(fields).toHaveLength(2);
});

test.each([
  [["activities"], "{}"],
  [["activities"], '{"activities":{}}'],
  [["activities"], '{"activities":null}'],
  [["more", "activities"], '{"more":1}'],
  [["body"], "[]"],
])("POST activities 422: reports %j for the body %s", async (fields, rawBody) => {
  const problem = expectProblem(await (await newTenant()).call("POST", "/activities", { rawBody }), 422, "validation-error");
  expect(problem.errors?.map((each) => each.field)).toEqual(fields);
});

test("POST activities 403: a token without create:activities stores nothing", async () => {
  const tenant = await newTenant();
  const token = await tenant.mint(scopes.filter((scope) => scope !== "create:activities"));
  const answer = await tenant.call("POST", "/activities", { token, body: { activities: [activity()] } });
  expectProblem(answer, 403, "access-denied");
  expect(await stored(tenant)).toEqual([]);
});

// Returns a row as text, whatever its column types.
// A parcel with few activities is not compressed, so its text can be searched.
function rowText(table: string): string {
  return table === "inbox" ? "case when get_byte(r.parcel, 0) = 91 then convert_from(r.parcel, 'UTF8') else '' end" : "r::text";
}

async function tablesWith(text: string): Promise<string[]> {
  const { database } = service.current;
  const tables = await database.query<{ name: string }>(
    statement("select table_name as name from information_schema.tables where table_schema = 'public' order by 1", []),
  );
  expect(tables.length).toBeGreaterThan(8);
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await database.query<{ is_there: boolean }>(
        statement(`select exists (select 1 from "${name}" as r where strpos(${rowText(name)}, $1) > 0) as is_there`, [text]),
      );
      return row?.is_there === true ? [name] : [];
    }),
  );
  return found.flat();
}

// The service here has no engine, so the test runs detection itself.
async function settle(tenant: TestTenant): Promise<void> {
  const { database } = tenant.service;
  const day = new Date().toISOString().slice(0, 10);
  await database.transaction((tx) => makePartition(tx, day));
  await detectBatch(newDetector(database), tenant.tenantId);
  expect(await stored(tenant)).toEqual([]);
}

test("POST activities 202: a report sent twice counts once", async () => {
  const tenant = await newTenant();
  const report = activity({ type: "fraud_report", website_account_id: "user-1" });
  for (const each of [report, report]) {
    await post(tenant, [each]);
    await settle(tenant);
  }
  expect(await tenant.list()).toMatchObject([{ website_account_id: "user-1", case_version: 1, updated_at: null }]);
});

test("DELETE account 204: the id is removed everywhere, and the cases remain under one new pseudonym", async () => {
  const tenant = await newTenant();
  const id = `gone-${randomUUID()}`;
  const report = (more: Fields = {}) => activity({ type: "fraud_report", website_account_id: id, ...more });
  await post(tenant, [report({ session_id: "s1" }), activity({ type: "signup", website_account_id: id })]);
  await settle(tenant);
  const [closing] = await tenant.list(`website_account_id=${id}`);
  const key = randomUUID();
  const close = { status: "CLOSED", case_version: 1 };
  const first = await tenant.put(closing?.case_id ?? "", close, key);
  const stale = await tenant.put(closing?.case_id ?? "", close);
  expect([first.status, stale.status]).toEqual([200, 409]);
  await post(tenant, [report()]);
  await settle(tenant);
  const reopen = await tenant.put(closing?.case_id ?? "", { status: "OPEN", case_version: 2 });
  expectProblem(reopen, 409, "item-already-exists");
  await tenant.call("PUT", `/enduseraccounts/${id}`, { body: { is_blocked: true, crm_account_id: `crm-of-${id}` } });
  await post(tenant, [activity({ website_account_id: id })]);
  const before = await Promise.all((await tenant.list()).map((item) => tenant.read(item.case_id)));
  // Stored replies never contain the id: it is inserted when they are replayed.
  const held = ["accounts", "activities", "cases", "events", "inbox", "rule_subjects", "sessions"];
  expect((await tablesWith(id)).filter((name) => !/^activities_\d{8}$/.test(name)).toSorted()).toEqual(held);

  const answer = await tenant.call("DELETE", `/enduseraccounts/${id}`);
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect(await tablesWith(id)).toEqual([]);
  const after = await Promise.all((await tenant.list()).map((item) => tenant.read(item.case_id)));
  const pseudonym = after[0]?.website_account_id ?? "";
  expect(pseudonym).toMatch(/^erased-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(after).toHaveLength(2);
  expect(after).toEqual(
    before.map((each) => ({
      ...each,
      website_account_id: pseudonym,
      end_user_is_blocked: false,
      case_version: each.case_version + 1,
      updated_at: expect.any(String),
    })),
  );
  expect(await tenant.list(`website_account_id=${id}`)).toEqual([]);
  expect(await tenant.list(`website_account_id=${pseudonym}`)).toHaveLength(2);
  const replay = await tenant.put(closing?.case_id ?? "", close, key);
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect(replay.json.data).toEqual({ ...(first.json.data as Fields), website_account_id: pseudonym });
});

test("DELETE account 204: the erasure is audited, the id can be used again, and another tenant's account is kept", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  for (const each of [tenant, other]) await post(each, [activity({ type: "fraud_report", website_account_id: "user-1" })]);
  await Promise.all([settle(tenant), settle(other)]);
  const theirs = [await other.list(), (await other.call("GET", "/enduseraccounts/user-1")).text];
  expect((await tenant.call("DELETE", "/enduseraccounts/user-1")).status).toBe(204);
  expectProblem(await tenant.call("DELETE", "/enduseraccounts/user-1"), 404, "item-not-found");
  const [kept] = await tenant.list();
  const text = "select actor, resource_id from events where tenant_id = $1 and type = 'account.erased'";
  const events = await tenant.service.database.query(statement(text, [tenant.tenantId]));
  expect(events).toEqual([{ actor: tenant.clientId, resource_id: kept?.website_account_id }]);
  await post(tenant, [activity({ type: "fraud_report", website_account_id: "user-1" })]);
  await settle(tenant);
  expect(await tenant.list("website_account_id=user-1")).toMatchObject([{ case_version: 1, status: "OPEN" }]);
  expect(await tenant.list()).toContainEqual(kept);
  expect([await other.list(), (await other.call("GET", "/enduseraccounts/user-1")).text]).toEqual(theirs);
});
