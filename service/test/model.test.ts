import { randomInt } from "node:crypto";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Case } from "../src/domain/case.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { TestTenant, newDetector, useService, type Answer } from "./harness.ts";

const service = useService();
const runs = 30;
const commandsMax = 40;
const accountIds = ["user-a", "user-b", "user-c"];
const keys = ["key-1", "key-2", "key-3", "key-4"];

// What the service should hold: only the rules, as a reader of the contract would write them down.
type ModelAccount = { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; crm_account_id?: string };
type ModelCase = { case_id: string; account: string; status: string; version: number; reports: number; states: number };
type Bound = { caseId: string; request: string; status: number; body: unknown };
type Model = { accounts: Map<string, ModelAccount>; cases: ModelCase[]; keys: Map<string, Bound>; freshKeys: number };
type Command = fc.AsyncCommand<Model, TestTenant>;

function command(name: string, run: (model: Model, tenant: TestTenant) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const pathOf = (id: string) => `/enduseraccounts/${id}`;
const noFlags = () => ({ is_blocked: false, is_quarantined: false, is_fraudulent: false });
const openCaseOf = (model: Model, account: string) =>
  model.cases.find((each) => each.account === account && each.status === "OPEN");
const isBlocked = (model: Model, { account }: ModelCase) => model.accounts.get(account)?.is_blocked ?? false;

function expectAnswer(answer: Answer, status: number, type?: string): void {
  const given = { status: answer.status, type: answer.status < 400 ? undefined : answer.json.type };
  expect(given).toEqual({ status, type });
}

// Any engine on this database may have taken the activity first, so only check that nothing is left.
async function settle(tenant: TestTenant): Promise<void> {
  const { database } = tenant.service;
  const text = "select count(*) as count from inbox where tenant_id = $1";
  const isDone = async () => {
    await detectBatch(newDetector(database), tenant.tenantId);
    const [row] = await database.query<{ count: number }>(statement(text, [tenant.tenantId]));
    expect(row?.count).toBe(0);
  };
  await vi.waitFor(isDone, { timeout: 10_000, interval: 10 });
}

const reportFraud = (account: string): Command =>
  command(`report ${account}`, async (model, tenant) => {
    await tenant.report(account);
    await settle(tenant);
    if (!model.accounts.has(account)) model.accounts.set(account, noFlags());
    const open = openCaseOf(model, account);
    if (open) {
      Object.assign(open, { version: open.version + 1, reports: open.reports + 1, states: open.states + 1 });
      return;
    }
    const [item] = await tenant.list(`website_account_id=${account}&status=OPEN`);
    expect(model.cases.map((each) => each.case_id)).not.toContain(item?.case_id);
    model.cases.push({ case_id: item?.case_id ?? "", account, status: "OPEN", version: 1, reports: 1, states: 1 });
  });

type Put = { pick: number; status: string; offset: number; key: number };
type Wanted = { status: number; type?: string; isChange?: boolean };

function wantedOfPut(model: Model, found: ModelCase, put: Put): Wanted {
  if (put.offset !== 0) return { status: 409, type: "item-version-conflict" };
  if (found.status === put.status) return { status: 200 };
  const isTaken = put.status === "OPEN" && openCaseOf(model, found.account) !== undefined;
  return isTaken ? { status: 409, type: "item-already-exists" } : { status: 200, isChange: true };
}

// The last number stands for a key that was never used.
const putCase = (put: Put): Command =>
  command(`put ${JSON.stringify(put)}`, async (model, tenant) => {
    const found = model.cases[put.pick % Math.max(1, model.cases.length)];
    if (!found) return;
    const key = keys[put.key] ?? `fresh-${model.freshKeys++}`;
    const body = { status: put.status, case_version: found.version + put.offset };
    const request = `${found.case_id} ${JSON.stringify(body)}`;
    const bound = model.keys.get(key);
    const answer = await tenant.put(found.case_id, body, key);
    expect(answer.headers.get("idempotent-replayed")).toBe(bound?.request === request ? "true" : null);
    if (bound && bound.request !== request) return expectAnswer(answer, 409, "operation-idempotency-conflict");
    if (bound) return expect({ status: answer.status, body: answer.json }).toEqual({ status: bound.status, body: bound.body });
    const wanted = wantedOfPut(model, found, put);
    expectAnswer(answer, wanted.status, wanted.type);
    const isConflict = wanted.type === "item-version-conflict";
    expect(answer.json.current_version).toBe(isConflict ? found.version : undefined);
    if (wanted.isChange) Object.assign(found, { status: put.status, version: found.version + 1, states: found.states + 1 });
    model.keys.set(key, { caseId: found.case_id, request, status: answer.status, body: answer.json });
  });

const changeAccount = (id: string, change: Partial<Record<keyof ModelAccount, boolean | string | null>>): Command =>
  command(`change ${id} ${JSON.stringify(change)}`, async (model, tenant) => {
    const account = model.accounts.get(id);
    const answer = await tenant.call("PUT", pathOf(id), { body: change });
    expectAnswer(answer, account ? 200 : 404, account ? undefined : "item-not-found");
    if (!account) return;
    Object.assign(account, change);
    if (change.crm_account_id === null) delete account.crm_account_id;
    expect(answer.json.data).toMatchObject(account);
  });

const createAccount = (id: string, isBlockedThen: boolean): Command =>
  command(`create ${id} ${isBlockedThen}`, async (model, tenant) => {
    const isThere = model.accounts.has(id);
    const body = { website_account_id: id, is_blocked: isBlockedThen };
    const answer = await tenant.call("POST", "/enduseraccounts", { body });
    expectAnswer(answer, isThere ? 409 : 201, isThere ? "item-already-exists" : undefined);
    if (!isThere) model.accounts.set(id, { ...noFlags(), is_blocked: isBlockedThen });
  });

// The cases continue under a name that only the service knows, and so do the stored replies that show them.
const eraseAccount = (id: string): Command =>
  command(`erase ${id}`, async (model, tenant) => {
    const isThere = model.accounts.delete(id);
    const answer = await tenant.call("DELETE", pathOf(id));
    expectAnswer(answer, isThere ? 204 : 404, isThere ? undefined : "item-not-found");
    const erased = model.cases.filter((each) => isThere && each.account === id);
    const names = await Promise.all(erased.map(async (each) => (await tenant.read(each.case_id)).website_account_id));
    expect(new Set(names).size).toBe(Math.min(1, erased.length));
    const pseudonym = names[0] ?? "";
    expect(accountIds).not.toContain(pseudonym);
    for (const each of erased) Object.assign(each, { account: pseudonym, version: each.version + 1 });
    for (const bound of model.keys.values()) {
      const isShown = bound.status === 200 && erased.some((each) => each.case_id === bound.caseId);
      if (isShown) bound.body = { data: { ...(bound.body as { data: Case }).data, website_account_id: pseudonym } };
    }
  });

const listCases = (filter: { status?: string; website_account_id?: string; user_is_blocked?: boolean }, limit: number): Command =>
  command(`list ${JSON.stringify(filter)} by ${limit}`, async (model, tenant) => {
    const given = Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]);
    const query = new URLSearchParams([...given, ["limit", String(limit)]]);
    const found: CaseListItem[] = [];
    for (let isMore = true; isMore;) {
      const answer = await tenant.call("GET", `/cases?${query.toString()}`);
      const page: { cases: CaseListItem[]; next_cursor: string | null } = answer.json.data;
      found.push(...page.cases);
      isMore = page.next_cursor !== null;
      query.set("cursor", page.next_cursor ?? "");
    }
    const wanted = model.cases.filter(
      (each) =>
        each.status === (filter.status ?? each.status) &&
        each.account === (filter.website_account_id ?? each.account) &&
        isBlocked(model, each) === (filter.user_is_blocked ?? isBlocked(model, each)),
    );
    expect(found.map((item) => item.case_id)).toEqual(
      wanted
        .map((each) => each.case_id)
        .toSorted()
        .toReversed(),
    );
  });

// Compares everything that can be read with the model.
async function expectSame(model: Model, tenant: TestTenant): Promise<void> {
  expect(await tenant.list()).toHaveLength(model.cases.length);
  for (const each of model.cases) {
    const read = await tenant.read(each.case_id);
    expect({
      account: read.website_account_id,
      isBlocked: read.end_user_is_blocked,
      statuses: [read.status, read.current_state.case_status],
      version: read.case_version,
      reports: Object.keys(read.fraud_occurrences).length,
      states: read.state_history.length + 1,
    }).toEqual({
      account: each.account,
      isBlocked: isBlocked(model, each),
      statuses: [each.status, each.status],
      version: each.version,
      reports: each.reports,
      states: each.states,
    });
  }
  for (const id of accountIds) {
    const answer = await tenant.call("GET", pathOf(id));
    const account = model.accounts.get(id);
    expectAnswer(answer, account ? 200 : 404, account ? undefined : "item-not-found");
    expect(account ? answer.json.data : {}).toMatchObject(account ?? {});
    expect("crm_account_id" in (account ? (answer.json.data as object) : {})).toBe(account?.crm_account_id !== undefined);
  }
}

const account = fc.constantFrom(...accountIds);
const status = fc.constantFrom("OPEN", "CLOSED");
const change = fc.record(
  {
    is_blocked: fc.boolean(),
    is_quarantined: fc.boolean(),
    is_fraudulent: fc.boolean(),
    crm_account_id: fc.constantFrom("CRM", "", null),
  },
  { requiredKeys: [] },
);
const put = fc.record({
  pick: fc.nat(5),
  status,
  offset: fc.constantFrom(0, 0, 0, -1, 1),
  key: fc.nat({ max: keys.length + 3 }),
});
const filter = fc.record({ status, website_account_id: account, user_is_blocked: fc.boolean() }, { requiredKeys: [] });
const commands = [
  account.map(reportFraud),
  account.map(reportFraud),
  put.map(putCase),
  put.map(putCase),
  put.map(putCase),
  fc.tuple(account, change).map(([id, body]) => changeAccount(id, body)),
  fc.tuple(account, fc.boolean()).map(([id, flag]) => createAccount(id, flag)),
  account.map(eraseAccount),
  fc.tuple(filter, fc.integer({ min: 1, max: 4 })).map(([given, limit]) => listCases(given, limit)),
];

test("service: any history of reports, case changes, keys and accounts behaves as the contract says", async () => {
  const seed = randomInt(2 ** 31);
  process.stdout.write(`model: seed ${seed}, ${runs} runs\n`);
  let longest = 0;
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: commandsMax, size: "max" }), async (history) => {
    const real = await TestTenant.create(service.current);
    const model: Model = { accounts: new Map(), cases: [], keys: new Map(), freshKeys: 0 };
    await fc.asyncModelRun(() => ({ model, real }), history);
    await expectSame(model, real);
    longest = Math.max(longest, [...history].length);
  });
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 });
  expect(longest).toBeGreaterThan(commandsMax / 2);
});
