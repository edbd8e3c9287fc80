import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { ListPreview } from "../src/domain/list-preview.ts";
import type { NewList } from "../src/domain/list.ts";
import { insertDecided, noonBefore, type Decided } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { makeList } from "./lists-lab.ts";

const service = useService();

async function preview(tenant: TestTenant, list: NewList, values: string[]): Promise<ListPreview> {
  await makeList(tenant, list);
  const answer = await tenant.call("POST", `/lists/${list.name}/preview`, { body: { values } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

const agent = "Mozilla/5.0 PartnerApp/7";
const row = (days: number, more: Decided): Decided => ({ received_at: noonBefore(days), type: "payment", ...more });

async function shop(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const [caseId, email] = [randomUUID(), { attributes: { email: "ann@mail.example.com" } }];
  const f = { "event.country": "DE", "event.asn": 64500 };
  await insertDecided(tenant, [
    row(1, { website_account_id: "ann", device_id: "phone", ip: "203.0.113.7", user_agent: agent, order_id: "o1", ...email }),
    row(2, { website_account_id: "ann", device_id: "phone", ip: "203.0.113.8", score: 5, case_id: caseId, decision: { f } }),
    row(3, {
      website_account_id: "bob",
      device_id: "phone",
      ip: "2001:db8:1::5",
      payee_id: "mule",
      order_id: "o2",
      decision: { f },
    }),
    row(4, { origin: "browser", device_id: "phone", ip: "203.0.114.1", user_agent: agent, ...email }),
    row(5, { website_account_id: "eve", device_id: "tablet", ip: "198.51.100.7", instrument: { fingerprint: "fp_1" } }),
    row(40, { website_account_id: "ann", device_id: "phone", ip: "203.0.113.7", payee_id: "mule" }),
  ]);
  const labels = [
    { order_id: "o1", fraudulent: true },
    { order_id: "o2", fraudulent: false },
  ];
  expect((await tenant.call("POST", "/labels", { body: { labels } })).status).toBe(200);
  return tenant;
}

const expected: [NewList["type"], string[], number][] = [
  ["account", ["ann"], 2],
  ["account", ["ann", "bob", "nobody"], 3],
  ["device", ["phone"], 4],
  ["ip", ["203.0.113.7"], 1],
  ["ip", ["203.0.113.0/24"], 2],
  ["ip", ["203.0.112.0/22", "2001:db8::/32"], 4],
  ["country", ["DE"], 2],
  ["country", ["FR"], 0],
  ["asn", ["64500"], 2],
  ["asn", ["6450"], 0],
  ["email", ["Ann@mail.example.com"], 2],
  ["email_domain", ["example.com"], 2],
  ["payee", ["mule"], 1],
  ["instrument", ["fp_1"], 1],
  ["user_agent", ["partnerapp"], 2],
  ["user_agent", ["nothing like it"], 0],
];

test("preview: counts the activity of the last 30 days that each type of value would have hit", async () => {
  const tenant = await shop();
  for (const [index, [type, values, activities]] of expected.entries()) {
    const found = await preview(tenant, { name: `list_${index}`, type, kind: "block" }, values);
    expect(found, `${type} ${values.join(" ")}`).toMatchObject({ activities, is_complete: true, is_exact: true });
  }
});

test("preview: says whose activity it was, what was suspicious, and what is known as fraud or honest", async () => {
  const tenant = await shop();
  expect(await preview(tenant, { name: "devices", type: "device", kind: "block" }, ["phone"])).toMatchObject({
    activities: 4,
    from_pages: 1,
    accounts: 2,
    suspicious: 1,
    cases: 1,
    confirmed_frauds: 1,
    honest: 1,
  });
  // What a page claims does not count for an allow list.
  expect(await preview(tenant, { name: "allowed", type: "device", kind: "allow" }, ["phone"])).toMatchObject({
    activities: 3,
    from_pages: 0,
  });
});

test("preview: says that it is not exact if addresses are stored truncated or hashed", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  const policy = (name: string) =>
    database.query(statement("update tenants set ip_policy = $2 where tenant_id = $1", [tenant.tenantId, name]));
  await insertDecided(tenant, [row(1, { ip: "203.0.113.0/24" }), row(1, { ip: "198.51.100.0/24" })]);
  await policy("truncate");
  const truncated = await preview(tenant, { name: "one", type: "ip", kind: "block" }, ["203.0.113.7"]);
  expect(truncated).toMatchObject({ activities: 1, is_exact: false });
  const block = await preview(tenant, { name: "two", type: "ip", kind: "block" }, ["203.0.0.0/16"]);
  expect(block).toMatchObject({ activities: 1, is_exact: true });
  await policy("hash");
  const hashed = await preview(tenant, { name: "three", type: "ip", kind: "block" }, ["203.0.113.0/24"]);
  expect(hashed).toMatchObject({ is_exact: false });
});

test("preview: wrong values are refused with their places", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, { name: "bad", type: "ip", kind: "block" });
  const answer = await tenant.call("POST", "/lists/bad/preview", { body: { values: ["203.0.113.7", "203.0.113.7/8", "x"] } });
  expect(answer.json.errors?.map(({ field }) => field)).toEqual(["values[1]", "values[2]"]);
});

test("backtest: a draft that uses a list is tried with the list as it is now", async () => {
  const tenant = await shop();
  await makeList(tenant, { name: "domains", type: "email_domain", kind: "custom" }, ["example.com"]);
  await makeList(tenant, { name: "agents", type: "user_agent", kind: "custom" }, ["partnerapp"]);
  const expression = 'lists.domains.has(event.email) && lists.agents.has(event.user_agent) && event.type != "signup"';
  const made = await tenant.call("POST", "/backtests", { body: { expression, days: 30 } });
  expect(made.status, made.text).toBe(202);
  const { backtest_id }: { backtest_id: string } = made.json.data;
  await vi.waitFor(
    async () => {
      const { data } = (await tenant.call("GET", `/backtests/${backtest_id}`)).json;
      expect(data).toMatchObject({ status: "DONE", result: { decisions: 5, hits: 2 } });
    },
    { timeout: 20_000, interval: 100 },
  );
});

test("preview 403: reading lists is not enough to find out which accounts, devices and addresses are active", async () => {
  const tenant = await shop();
  await makeList(tenant, { name: "mine", type: "account", kind: "custom" });
  const ask = async (scopes: string[]) => {
    const token = await tenant.mint(scopes);
    return tenant.call("POST", "/lists/mine/preview", { body: { values: ["ann"] }, token });
  };
  for (const scopes of [["read:lists"], ["read:lists", "update:lists", "manage:lists"], ["read:enduseraccounts"]])
    expectProblem(await ask(scopes), 403, "access-denied");
  expect((await ask(["read:lists", "read:enduseraccounts"])).json.data).toMatchObject({ activities: 2, accounts: 1 });
});
