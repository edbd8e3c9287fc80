import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { newDetector } from "./harness.ts";
import { Site, browserEvent, useCollector } from "./site.ts";
import { findTraces } from "./traces.ts";

const service = useCollector();

beforeEach(async () => {
  const today = new Date().toISOString().slice(0, 10);
  await service.current.database.transaction((tx) => makePartition(tx, today));
});

async function score({ tenant }: Site): Promise<void> {
  const detector = newDetector(service.current.database);
  while ((await detectBatch(detector, tenant.tenantId))?.scored !== 0);
}

const query = (site: Site, text: string, ...values: unknown[]) =>
  service.current.database.query(statement(text, [site.tenant.tenantId, ...values]));

// Sends the account's id through every input that accepts text: as an account id, and inside other texts.
async function sendThroughEveryDoor(site: Site, id: string): Promise<void> {
  const { tenant } = site;
  // A short id is not searched for inside other ids, because it would be found in too many.
  const names =
    id.length < 8
      ? { website_account_id: id, session_id: randomUUID(), device_id: randomUUID() }
      : { website_account_id: id, session_id: `session-of-${id}`, device_id: `device-of-${id}` };
  const occurred_at = new Date().toISOString();
  const agent = (name: string) => (id.length < 8 ? name : `${name} (account ${id})`);
  const activities = [
    { type: "login_succeeded", ...names, user_agent: agent("curl/8.5.0"), attributes: { login: id, [`of ${id}`]: true } },
    { type: "fraud_report", ...names, attributes: { note: `The owner of ${id} called.` } },
    { type: "fraud_report", device_id: names.device_id, attributes: { note: `A device of ${id}.` } },
    { type: "custom:seen", session_id: names.session_id, attributes: { text: `About ${id}` } },
  ].map((activity) => ({ activity_id: randomUUID(), occurred_at, ...activity }));
  const answer = await tenant.call("POST", "/activities", { body: { activities } });
  expect(answer.status, answer.text).toBe(202);
  const user = { _user_id: { value: id, set_timestamp: Date.now() } };
  const session = { _session_id: names.session_id, _page_url: `https://shop.example/of/${id}`, _page_title: `Page of ${id}` };
  const own = { device_id: names.device_id, unique_id: names.device_id, user };
  const headers = { "user-agent": agent("Mozilla/5.0").replaceAll('"', "'") };
  await site.post([browserEvent(own, session), browserEvent({ ...own, user: {} }, session)], { headers });
  await site.post([{ event_id: randomUUID(), event_type: "bad", attributes: { who: id } }, { event_type: id }]);
  await site.collect(`no JSON about ${id}`);
  const reused = { ...own, event_id: randomUUID() };
  await site.post([browserEvent(reused, { n: 1 })]);
  await site.post([browserEvent(reused, { who: id })]);
  await score(site);
}

async function closeAll({ tenant }: Site): Promise<void> {
  for (const { case_id, case_version } of await tenant.list("status=OPEN")) {
    const body = { status: "CLOSED", case_version, reason: "Closed.", disposition: "CONFIRMED_FRAUD" };
    expect((await tenant.call("PUT", `/cases/${case_id}`, { body, key: randomUUID() })).status).toBe(200);
  }
}

const idsOf = (): [string, string][] => [
  ["an identifying id", `customer.${randomUUID()}@shop.example`],
  ["a short id", "kim-7"],
  ["a long id", `${"long.".repeat(15)}${randomUUID()}`],
  ["an id with quotes", `o"Brien \\ ${randomUUID()}`],
];

test.each(idsOf())("DELETE account 204: %s sent through every input is in no row of any table", async (_name, id) => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  const made = await tenant.call("POST", "/webhooks", { body: { url: "https://crm.example/hook", types: [] } });
  expect(made.status, made.text).toBe(201);
  await sendThroughEveryDoor(site, id);
  await sendThroughEveryDoor(site, "somebody-else");
  await tenant.report(id, { attributes: { note: `Another call of ${id}.` } });
  await score(site);
  await closeAll(site);
  await query(
    site,
    `insert into webhook_deliveries (tenant_id, webhook_id, event_id, resource, state, attempts, next_at, created_at, last_error)
     select $1, webhook_id, 1, hashtextextended('end_user_account ' || $2, 0), 'DEAD', 1, now(), now(), 'nobody knows ' || $2
     from webhooks
     where tenant_id = $1`,
    id,
  );
  const json = JSON.stringify(id).slice(1, -1);
  const before = new Set([...(await findTraces(tenant, id)), ...(await findTraces(tenant, json))]);
  const doors = ["accounts", "activities", "cases", "events", "idempotency_keys", "links", "quarantine", "sessions"];
  for (const table of [...doors, "webhook_deliveries", "rule_subjects", ...(id.length < 8 ? [] : ["user_agents"])])
    expect([...before]).toContain(table);
  const others = await findTraces(tenant, "somebody-else");
  expect((await tenant.call("DELETE", `/enduseraccounts/${encodeURIComponent(id)}`)).status).toBe(204);
  expect(await findTraces(tenant, json)).toEqual([]);
  expect(await findTraces(tenant, id.slice(0, 100))).toEqual([]);
  expect(await findTraces(tenant, "somebody-else")).toEqual(others);
  const [delivery] = await query(
    site,
    "select resource = hashtextextended('end_user_account ' || $2, 0) as is_known from webhook_deliveries where tenant_id = $1",
    id,
  );
  expect(delivery).toEqual({ is_known: false });
});

test("DELETE account 204: a numeric id removes nothing that merely contains that number", async () => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  await tenant.report("42", { attributes: { note: '42 calls by customer "42", 421 minutes' } });
  await tenant.report("user-42", { type: "fraud_report", attributes: { note: "about user-42" } });
  await site.post([browserEvent({ user: {} })], { headers: { "user-agent": "Mozilla/5.0 Version/42 Mobile" } });
  await site.post([{ event_id: randomUUID(), event_type: "bad", attributes: { customer: 42 } }]);
  await site.post([{ event_id: randomUUID(), event_type: "worse", attributes: { customer: 421 } }]);
  await score(site);
  expect((await tenant.call("DELETE", "/enduseraccounts/42")).status).toBe(204);
  const cases = await tenant.list();
  const notes = await Promise.all(cases.map(async ({ case_id }) => (await tenant.read(case_id)).details.highlights.at(-1) ?? ""));
  expect(notes.toSorted()).toEqual([
    expect.stringMatching(/^Note: 42 calls by customer "erased-[0-9a-f-]{36}", 421 minutes$/),
    "Note: about user-42",
  ]);
  expect(await query(site, "select user_agent from user_agents where tenant_id = $1")).toEqual([
    { user_agent: "Mozilla/5.0 Version/42 Mobile" },
  ]);
  const { quarantine } = await site.quarantined();
  expect(quarantine.map(({ excerpt }) => JSON.parse(excerpt).event_type)).toEqual(["worse"]);
});

test("DELETE account 204: erasing an account whose id is one of our own words leaves those words unchanged", async () => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  for (const id of ["OPEN", "Mozilla", "Bot"]) await tenant.report(id, { attributes: { label: "Bot" } });
  await site.post([browserEvent({ user: {} })], { headers: { "user-agent": "Mozilla/5.0 Mobile" } });
  await score(site);
  for (const id of ["OPEN", "Mozilla", "Bot"]) expect((await tenant.call("DELETE", `/enduseraccounts/${id}`)).status).toBe(204);
  for (const { case_id } of await tenant.list()) {
    const found = await tenant.read(case_id);
    expect(found).toMatchObject({ status: "OPEN", current_state: { case_status: "OPEN" }, details: { fraud_labels: ["Bot"] } });
  }
  expect(await query(site, "select user_agent from user_agents where tenant_id = $1")).toEqual([
    { user_agent: "Mozilla/5.0 Mobile" },
  ]);
});

test("GET case 200: a case about a source that names the erased account continues with the pseudonym and a new version", async () => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  const id = `member-${randomUUID()}`;
  await sendThroughEveryDoor(site, id);
  const source = (await tenant.list("website_account_id=UNKNOWN"))[0];
  const before = await tenant.read(source?.case_id ?? "");
  expect(JSON.stringify(before)).toContain(id);
  expect((await tenant.call("DELETE", `/enduseraccounts/${id}`)).status).toBe(204);
  const after = await tenant.read(before.case_id);
  expect(after).toMatchObject({ website_account_id: "UNKNOWN", status: "OPEN", case_version: before.case_version + 1 });
  expect(after.details.highlights.join()).toMatch(/A device of erased-[0-9a-f-]{36}\./);
  const { json } = await tenant.call("GET", `/cases/${before.case_id}/events`);
  expect(json.data).toMatchObject({ events: expect.arrayContaining([expect.objectContaining({ type: "case.pseudonymised" })]) });
});
