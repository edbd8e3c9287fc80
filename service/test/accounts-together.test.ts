import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { updateTogether } from "../src/api/account-update.ts";
import type { AccountUpdate } from "../src/api/operation.ts";
import { clock } from "../src/clock.ts";
import type { AccountChange } from "../src/domain/account.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService();

const newTenant = () => TestTenant.create(service.current);

async function create(tenant: TestTenant, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `account-${index}-${randomUUID()}`);
  for (const website_account_id of ids) {
    const answer = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id } });
    expect(answer.status, answer.text).toBe(201);
  }
  return ids;
}

function updateOf({ tenantId, slug, clientId }: TestTenant, id: string, change: AccountChange): AccountUpdate {
  return { caller: { tenant_id: tenantId, slug, actor: clientId, scopes: new Set() }, id, change, now: clock.now() };
}

async function together(tenant: TestTenant, updates: AccountUpdate[]) {
  const replies = await updateTogether(service.current.database, tenant.tenantId, updates);
  return replies.map((reply) => reply && { status: reply.status, data: JSON.parse(reply.body).data });
}

const read = async (tenant: TestTenant, id: string) => (await tenant.call("GET", `/enduseraccounts/${id}`)).json.data;

async function changesOf(tenant: TestTenant): Promise<string[]> {
  const { json } = await tenant.call("GET", "/events?limit=1000");
  const { events } = json.data as unknown as { events: { type: string; resource: { id: string } }[] };
  return events.filter(({ type }) => type === "account.updated").map(({ resource }) => resource.id);
}

// Locks an account's row in another transaction.
async function hold(tenant: TestTenant, id: string): Promise<void> {
  const client = await service.current.database.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select 1 from accounts where tenant_id = $1 and website_account_id = $2 for update", [tenant.tenantId, id]);
}

test("accounts together: each gets its own outcome, and those that must be tried alone change nothing", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  const [first = "", second = "", same = "", held = ""] = await create(tenant, 4);
  const [foreign = ""] = await create(other, 1);
  await hold(tenant, held);
  const outcomes = await together(tenant, [
    updateOf(tenant, first, { crm_account_id: "CRM 1" }),
    updateOf(tenant, held, { is_blocked: true }),
    updateOf(tenant, same, { is_blocked: false }),
    updateOf(tenant, foreign, { is_blocked: true }),
    updateOf(tenant, "nobody", { is_blocked: true }),
    updateOf(tenant, first, { is_fraudulent: true }),
    updateOf(tenant, second, { is_blocked: true, is_quarantined: true, crm_account_id: null }),
  ]);
  expect(outcomes.map((outcome) => outcome?.status ?? null)).toEqual([200, null, 200, null, null, null, 200]);
  expect(outcomes[0]?.data).toEqual(await read(tenant, first));
  expect(outcomes[0]?.data).toMatchObject({ crm_account_id: "CRM 1", is_fraudulent: false });
  expect(outcomes[2]?.data).toEqual(await read(tenant, same));
  expect(outcomes[6]?.data).toEqual(await read(tenant, second));
  expect(outcomes[6]?.data).toMatchObject({ is_blocked: true, is_quarantined: true });
  expect(await read(tenant, held)).toMatchObject({ is_blocked: false });
  expect(await read(other, foreign)).toMatchObject({ is_blocked: false });
  // One event for each change, and none where nothing changed.
  expect((await changesOf(tenant)).toSorted()).toEqual([first, second].toSorted());
  expect(await changesOf(other)).toEqual([]);
});

test("accounts together: the block flags of several accounts show in the cases of each, and in no others", async () => {
  const tenant = await newTenant();
  const accounts = ["one", "two", "three"].map((name) => `${name}-${randomUUID()}`);
  for (const account of accounts) await tenant.openCase(account);
  const [one = "", two = "", three = ""] = accounts;
  await together(tenant, [updateOf(tenant, one, { is_blocked: true }), updateOf(tenant, two, { is_blocked: true })]);
  const flagsOf = async () => new Map((await tenant.list("")).map((each) => [each.website_account_id, each.end_user_is_blocked]));
  expect(await flagsOf()).toEqual(
    new Map([
      [one, true],
      [two, true],
      [three, false],
    ]),
  );
  await together(tenant, [updateOf(tenant, one, { is_blocked: false }), updateOf(tenant, three, { is_blocked: true })]);
  expect(await flagsOf()).toEqual(
    new Map([
      [one, false],
      [two, true],
      [three, true],
    ]),
  );
});

test("accounts together: if blocking needs a second person, it is refused, and other changes at the same time are made", async () => {
  const tenant = await newTenant();
  const [first = "", second = "", third = ""] = await create(tenant, 3);
  const settings = { blocking: true, amounts: [], includes_clients: true, approval_settings_version: 1 };
  expect((await tenant.call("PUT", "/approval-settings", { body: settings })).status).toBe(200);
  const answers = await Promise.all([
    tenant.call("PUT", `/enduseraccounts/${first}`, { body: { is_blocked: true } }),
    tenant.call("PUT", `/enduseraccounts/${second}`, { body: { is_quarantined: true } }),
    tenant.call("PUT", `/enduseraccounts/${third}`, { body: { is_blocked: false, crm_account_id: "CRM 3" } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([403, 200, 200]);
  expect(await read(tenant, first)).toMatchObject({ is_blocked: false });
  expect(await read(tenant, second)).toMatchObject({ is_quarantined: true });
  expect(await read(tenant, third)).toMatchObject({ crm_account_id: "CRM 3" });
});

test("accounts together: a change that waits for a case of its account does not fail the others", async () => {
  const tenant = await newTenant();
  const [first = "", second = ""] = await create(tenant, 2);
  const holder = await service.current.database.connect();
  onTestFinished(() => holder.end());
  const { case_id } = await tenant.openCase(first);
  await holder.query("begin");
  await holder.query("select 1 from cases where tenant_id = $1 and case_id = $2 for update", [tenant.tenantId, case_id]);
  const put = (id: string, body: AccountChange) => tenant.call("PUT", `/enduseraccounts/${id}`, { body });
  const waiting = put(first, { is_blocked: true });
  const others = await Promise.all([put(second, { is_quarantined: true }), put("absent", { is_blocked: true })]);
  expect(others.map(({ status }) => status)).toEqual([200, 404]);
  await holder.query("rollback");
  expect(await waiting).toMatchObject({ status: 200, json: { data: { website_account_id: first, is_blocked: true } } });
  expect((await changesOf(tenant)).toSorted()).toEqual([first, second].toSorted());
});

test("accounts together: with many changes at once, every answer shows what was stored, and no change is lost", async () => {
  const tenant = await newTenant();
  const ids = await create(tenant, 20);
  const wanted = ids.flatMap((id) => [
    { id, body: { is_quarantined: true } },
    { id, body: { is_fraudulent: true } },
    { id, body: { crm_account_id: `CRM of ${id}` } },
    { id: `absent-${id}`, body: { is_blocked: true } },
  ]);
  const answers = await Promise.all(wanted.map(({ id, body }) => tenant.call("PUT", `/enduseraccounts/${id}`, { body })));
  for (const [index, { status, json }] of answers.entries()) {
    const { id, body } = wanted[index] ?? { id: "", body: {} };
    const isAbsent = id.startsWith("absent-");
    expect(status).toBe(isAbsent ? 404 : 200);
    expect(json).toMatchObject(isAbsent ? { type: "item-not-found" } : { data: { website_account_id: id, ...body } });
  }
  for (const id of ids)
    expect(await read(tenant, id)).toMatchObject({ is_quarantined: true, is_fraudulent: true, crm_account_id: `CRM of ${id}` });
  expect((await changesOf(tenant)).toSorted()).toEqual(ids.flatMap((id) => [id, id, id]).toSorted());
});
