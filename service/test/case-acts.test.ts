import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Account } from "../src/domain/account.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { expectProblem, useService, TestTenant } from "./harness.ts";

const service = useService();

async function accountOf(tenant: TestTenant, id: string): Promise<Account> {
  return (await tenant.call("GET", `/enduseraccounts/${id}`)).json.data;
}

async function eventsSince(tenant: TestTenant, after: number): Promise<LoggedEvent[]> {
  return ((await tenant.call("GET", `/events?after=${after}`)).json.data as { events: LoggedEvent[] }).events;
}

async function lastEvent(tenant: TestTenant): Promise<number> {
  return (await eventsSince(tenant, 0)).at(-1)?.event_id ?? 0;
}

const fraud = { status: "CLOSED", disposition: "CONFIRMED_FRAUD" } as const;

test("PUT case 200: a close with account flags sets both, in one transaction, and says so in the response and in two events", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, case_version, website_account_id: id } = await tenant.openCase();
  const before = await lastEvent(tenant);
  const account = { is_blocked: true, is_fraudulent: true };
  const answer = await tenant.put(case_id, { ...fraud, case_version, account });
  expect(answer.json.data).toMatchObject({ status: "CLOSED", end_user_is_blocked: true, case_version: case_version + 1 });
  expect(await tenant.read(case_id)).toEqual(answer.json.data);
  expect(await accountOf(tenant, id)).toMatchObject({ is_blocked: true, is_fraudulent: true, is_quarantined: false });
  expect((await eventsSince(tenant, before)).map(({ type, actor, data }) => ({ type, actor, data }))).toEqual([
    { type: "case.closed", actor: tenant.clientId, data: { disposition: "CONFIRMED_FRAUD" } },
    { type: "account.updated", actor: tenant.clientId, data: account },
  ]);
  expect((await tenant.list(`user_is_blocked=true&website_account_id=${id}`)).map((each) => each.case_id)).toEqual([case_id]);
});

test("PUT case: the account's other cases show the new flag too", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await tenant.openCase("ann");
  await tenant.put(first.case_id, { ...fraud, case_version: first.case_version });
  const second = await tenant.openCase("ann");
  await tenant.put(second.case_id, { ...fraud, case_version: second.case_version, account: { is_blocked: true } });
  expect((await tenant.read(first.case_id)).end_user_is_blocked).toBe(true);
});

test("PUT case: a stale version, a repeat and an already closed case change no flag", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, case_version, website_account_id: id } = await tenant.openCase();
  const account = { is_blocked: true };
  expectProblem(await tenant.put(case_id, { ...fraud, case_version: case_version + 1, account }), 409, "item-version-conflict");
  expect((await accountOf(tenant, id)).is_blocked).toBe(false);
  const key = randomUUID();
  const first = await tenant.put(case_id, { ...fraud, case_version, account }, key);
  await tenant.call("PUT", `/enduseraccounts/${id}`, { body: { is_blocked: false } });
  const again = await tenant.put(case_id, { ...fraud, case_version, account }, key);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect((await tenant.put(case_id, { ...fraud, case_version: case_version + 1, account })).status).toBe(200);
  expect((await accountOf(tenant, id)).is_blocked).toBe(false);
});

test("PUT case 403: flags need the scope for accounts, and nothing is applied without it", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, case_version, website_account_id: id } = await tenant.openCase();
  const token = await tenant.mint(["update:case"]);
  const body = { ...fraud, case_version, account: { is_blocked: true } };
  expectProblem(await tenant.put(case_id, body, randomUUID(), { token }), 403, "access-denied");
  expect((await tenant.read(case_id)).status).toBe("OPEN");
  expect((await accountOf(tenant, id)).is_blocked).toBe(false);
  expect((await tenant.put(case_id, { ...fraud, case_version }, randomUUID(), { token })).status).toBe(200);
});

test("PUT case 422: flags of a case without an account, with OPEN, or of another form; the key stays free", async () => {
  const tenant = await TestTenant.create(service.current);
  const found = await tenant.openCase();
  const { case_id, case_version } = found;
  const key = randomUUID();
  const fieldsOf = async (body: object, id = case_id) =>
    expectProblem(await tenant.put(id, body, key), 422, "validation-error").errors?.map(({ field }) => field);
  expect(await fieldsOf({ status: "OPEN", case_version, account: { is_blocked: true } })).toEqual(["account"]);
  for (const [member, value] of [
    ["is_blocked", "true"],
    ["crm_account_id", "x"],
    ["website_account_id", "other"],
  ] as const)
    expect(await fieldsOf({ ...fraud, case_version, account: { [member]: value } })).toEqual([`account.${member}`]);
  expect(await fieldsOf({ ...fraud, case_version, account: true })).toEqual(["account"]);
  await tenant.report(undefined, { device_id: "a-device" });
  await expect.poll(() => tenant.list("website_account_id=UNKNOWN"), { timeout: 15_000 }).toHaveLength(1);
  const [unknown] = await tenant.list("website_account_id=UNKNOWN");
  const body = { ...fraud, case_version: unknown?.case_version, account: { is_blocked: true } };
  expect(await fieldsOf(body, unknown?.case_id)).toEqual(["account"]);
  expect(await tenant.read(case_id)).toEqual(found);
  expect((await tenant.put(case_id, { ...fraud, case_version, account: {} }, key)).status).toBe(200);
});

test("PUT case: closes with flags and changes of the same accounts at the same time all succeed, and agree in the end", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await Promise.all(Array.from({ length: 6 }, () => tenant.openCase()));
  const answers = await Promise.all(
    cases.flatMap(({ case_id, case_version, website_account_id: id }) => [
      tenant.put(case_id, { ...fraud, case_version, account: { is_blocked: true } }),
      tenant.call("PUT", `/enduseraccounts/${id}`, { body: { is_quarantined: true } }),
      tenant.call("PUT", `/enduseraccounts/${id}`, { body: { is_fraudulent: true, is_blocked: false } }),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  for (const { case_id, website_account_id: id } of cases) {
    const account = await accountOf(tenant, id);
    expect(account).toMatchObject({ is_quarantined: true, is_fraudulent: true });
    expect((await tenant.read(case_id)).end_user_is_blocked).toBe(account.is_blocked);
  }
});

test("PUT case 404: a case of another tenant changes no flag of either", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const { case_id, case_version } = await tenant.openCase("ann");
  await other.openCase("ann");
  expectProblem(await other.put(case_id, { ...fraud, case_version, account: { is_blocked: true } }), 404, "item-not-found");
  for (const each of [tenant, other]) expect((await accountOf(each, "ann")).is_blocked).toBe(false);
});
