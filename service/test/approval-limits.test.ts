import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { ApprovalSettings } from "../src/domain/approval-settings.ts";
import type { Case } from "../src/domain/case.ts";
import {
  close,
  closeAll,
  decide,
  listed,
  nameOf,
  openCases,
  pair,
  readApproval,
  request,
  requested,
  seen,
  setApprovals,
} from "./approving.ts";
import { expectProblem, TestTenant, useService } from "./harness.ts";
import { Browser } from "./people.ts";
import { eventually } from "./process.ts";

const service = useService();
const patience = { timeout: 30_000, interval: 50 };
const team = (settings: Parameters<typeof pair>[1] = {}) => pair(service.current, settings);
const blocks = { account: { is_blocked: true } };

const letter = (at: number) => String.fromCharCode(65 + at);

test("approval settings: nothing at first; a change needs the current version and an admin, and is in the log", async () => {
  const tenant = await TestTenant.create(service.current);
  const [lead, admin] = [await Browser.join(tenant, "lead"), await Browser.join(tenant, "admin", { name: "Root" })];
  const path = "/approval-settings";
  const before = (await lead.call("GET", path)).json.data as ApprovalSettings;
  const off = { blocking: false, amounts: [], includes_clients: false };
  expect(before).toMatchObject({ ...off, approval_settings_version: 1, updated_by: "system" });
  const body = { ...off, bulk_over: 20, amounts: [{ currency: "EUR", above: 500.5 }], approval_settings_version: 1 };
  expectProblem(await lead.call("PUT", path, { body }), 403, "access-denied");
  const after = await admin.call("PUT", path, { body });
  expect(after.json.data).toMatchObject({ ...body, bulk_minutes: 60, approval_settings_version: 2, updated_by: nameOf(admin) });
  expect(expectProblem(await admin.call("PUT", path, { body }), 409, "item-version-conflict").current_version).toBe(2);
  const same = await admin.call("PUT", path, { body: { ...body, bulk_minutes: 60, approval_settings_version: 2 } });
  expect(same.json.data).toEqual(after.json.data);
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: { type: string }[] };
  expect(events.filter(({ type }) => type === "approval_settings.updated")).toMatchObject([
    {
      actor: nameOf(admin),
      resource: { version: 2 },
      data: { bulk_over: 20, bulk_minutes: 60, amounts: [{ currency: "EUR", above: 500.5 }] },
    },
  ]);
  const wrong: [object, string[]][] = [
    [{ bulk_over: 0 }, ["bulk_over"]],
    [{ bulk_over: 501 }, ["bulk_over"]],
    [{ bulk_over: undefined, bulk_minutes: 5 }, ["bulk_minutes"]],
    [{ bulk_minutes: 1441 }, ["bulk_minutes"]],
    [{ blocking: "true" }, ["blocking"]],
    [{ blocking: null }, ["blocking"]],
    [{ includes_clients: undefined }, ["includes_clients"]],
    [{ amounts: [{ currency: "eur", above: 1 }] }, ["amounts[0].currency"]],
    [{ amounts: [{ currency: "EUR", above: -1 }] }, ["amounts[0].above"]],
    [
      {
        amounts: [
          { currency: "EUR", above: 1 },
          { currency: "EUR", above: 2 },
        ],
      },
      ["amounts[1].currency"],
    ],
    [{ amounts: [7, null] }, ["amounts[0]", "amounts[1]"]],
    [{ amounts: {} }, ["amounts"]],
    [
      {
        amounts: Array.from({ length: 51 }, (_, at) => ({
          currency: `A${letter(Math.floor(at / 26))}${letter(at % 26)}`,
          above: 1,
        })),
      },
      ["amounts"],
    ],
    [{ owner: "me" }, ["owner"]],
  ];
  for (const [more, fields] of wrong) {
    const answer = await admin.call("PUT", path, { body: { ...body, approval_settings_version: 2, ...more } });
    expect(answer.status, JSON.stringify(more)).toBe(422);
    const { errors } = expectProblem(answer, 422, "validation-error");
    expect(errors?.map(({ field }) => field)).toEqual(fields);
  }
  expect((await admin.call("GET", path)).json.data).toEqual(after.json.data);
});

function pay(order_id: string, more: object) {
  const base = { type: "payment", occurred_at: new Date().toISOString(), website_account_id: "payer" };
  return { ...base, activity_id: randomUUID(), order_id, ...more };
}

test("amount: the payments in a case count by currency, as the figures count them; others and declined ones do not", async () => {
  const { tenant, ada, ben } = await team();
  const payments = [
    pay("order-1", { amount: 100.25, currency: "EUR" }),
    pay("order-1", { amount: 0.5, currency: "EUR" }),
    pay("order-1", { amount: 7, currency: "USD" }),
    pay("order-1", { amount: 1000, currency: "EUR", status: "declined" }),
    pay("order-2", { amount: 5000, currency: "EUR" }),
  ];
  await tenant.call("POST", "/activities", { body: { activities: payments } });
  await eventually(async () => {
    const { data }: { data: { orders: unknown[] } } = (await tenant.call("GET", "/search?q=order-")).json;
    expect(data.orders).toHaveLength(2);
  });
  await tenant.report("payer", { attributes: { order_id: "order-1" } });
  await eventually(async () => expect(await tenant.list("min_score=5")).toHaveLength(1));
  const found = await tenant.read((await tenant.list())[0]?.case_id ?? "");
  const other = await tenant.openCase();
  const check = async (settings: object) => {
    await setApprovals(tenant, settings);
    const answer = await ada.call("POST", "/approvals/check", { body: { cases: seen([found]) } });
    return (answer.json.data as { because: string[] }).because;
  };
  expect(await check({ amounts: [{ currency: "EUR", above: 100.75 }] })).toEqual([]);
  expect(await check({ amounts: [{ currency: "USD", above: 6.99 }] })).toEqual(["amount"]);
  expect(await check({ amounts: [{ currency: "XXX", above: 0 }] })).toEqual([]);
  expect(await check({ amounts: [{ currency: "EUR", above: 100.74 }] })).toEqual(["amount"]);
  for (const disposition of ["CONFIRMED_FRAUD", "FALSE_POSITIVE", undefined]) {
    const closing = disposition === undefined ? {} : { disposition };
    expectProblem(await close(ada, found, closing), 403, "access-denied");
    expectProblem(await closeAll(ada, [other, found], closing), 403, "access-denied");
  }
  const [occurrence = ""] = Object.keys(found.fraud_occurrences);
  expectProblem(await close(ada, found, { occurrence_ids: [occurrence] }), 403, "access-denied");
  expect(await tenant.list("status=CLOSED")).toEqual([]);
  expect((await close(ada, other)).status).toBe(200);
  const made = await requested(ada, { cases: seen([found]), disposition: "CONFIRMED_FRAUD" });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  await eventually(async () => {
    const { data } = (await tenant.call("GET", "/figures/money")).json as { data: { money: object[] } };
    expect(data.money).toMatchObject([{ amount: 100.75 }, { amount: 7 }]);
  });
});

const login = (type: string, account: string) => {
  const base = { activity_id: randomUUID(), type, occurred_at: new Date().toISOString() };
  return { ...base, website_account_id: account, ip: "192.0.2.7" };
};

test("bulk: members that a close takes along count, also while the engine still closes them; approved, they have the approver", async () => {
  const { tenant, ada, ben } = await team({ bulk_over: 2 });
  const failed = Array.from({ length: 30 }, (_, at) => login("login_failed", `user-${at}`));
  await tenant.call("POST", "/activities", { body: { activities: failed } });
  const entered = [10, 11].map((at) => login("login_succeeded", `user-${at}`));
  await tenant.call("POST", "/activities", { body: { activities: entered } });
  const cases = await vi.waitFor(async () => {
    const open = await tenant.list("status=OPEN");
    expect(open).toHaveLength(3);
    return Promise.all(open.map(({ case_id }) => tenant.read(case_id)));
  }, patience);
  const source = cases.find(({ website_account_id: account }) => account === "UNKNOWN");
  if (!source) throw new Error("there is no case about the source");
  const together = { disposition: "CONFIRMED_FRAUD", members: "same" };
  expectProblem(await close(ada, source, together), 403, "access-denied");
  const made = await requested(ada, { cases: seen([source]), ...together });
  expect(made).toMatchObject({ because: ["bulk"], case_count: 1 });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  await vi.waitFor(async () => expect(await tenant.list("status=OPEN")).toEqual([]), patience);
  for (const { case_id } of cases) {
    const { current_state } = await tenant.read(case_id);
    expect(current_state).toMatchObject({ changed_by: nameOf(ada), approved_by: nameOf(ben) });
  }
  // None of the approved closes counts.
  expect((await closeAll(ada, await openCases(tenant, 2))).status).toBe(200);
  expectProblem(await close(ada, await tenant.openCase()), 403, "access-denied");
});

test("race: an approval while the case gets new evidence closes exactly the version that was seen, or nothing", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), ...blocks });
  const [answer] = await Promise.all([
    decide(ben, made, "APPROVED"),
    tenant.report(found.website_account_id, { attributes: { label: "Bot" } }),
  ]);
  await vi.waitFor(async () => {
    const [open] = await tenant.list(`website_account_id=${found.website_account_id}&status=OPEN`);
    expect(open).toBeDefined();
    expect([open?.case_id, open?.case_version]).not.toEqual([found.case_id, found.case_version]);
  }, patience);
  const after = await tenant.read(found.case_id);
  const account = (await tenant.call("GET", `/enduseraccounts/${found.website_account_id}`)).json.data as { is_blocked: boolean };
  const { status } = await readApproval(ben, made);
  const applied = ["CLOSED", found.case_version + 1, true, "APPROVED"];
  const nothing = ["OPEN", after.case_version, false, "STALE"];
  expect([200, 409]).toContain(answer.status);
  expect([after.status, after.case_version, account.is_blocked, status]).toEqual(answer.status === 200 ? applied : nothing);
});

test("POST approvals 404, 403, 400, 409, 422: what could not be approved is not stored", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const other = await pair(service.current, { blocking: true });
  const [found, two] = (await openCases(tenant, 2)) as [Case, Case];
  const body = { cases: seen([found]), ...blocks };
  const both = seen([found, two]);
  for (const id of [randomUUID(), "x"])
    expectProblem(await request(ada, { cases: [{ case_id: id, case_version: 1 }] }), 404, "item-not-found");
  expectProblem(await request(other.ada, body), 404, "item-not-found");
  expectProblem(await request(ada, { website_account_id: "nobody", ...blocks }), 404, "item-not-found");
  const stale = { cases: [{ case_id: found.case_id, case_version: 7 }] };
  expect(expectProblem(await request(ada, stale), 409, "item-version-conflict").current_version).toBe(found.case_version);
  expectProblem(await ada.call("POST", "/approvals", { body }), 400, "invalid-operation-id");
  const token = await tenant.mint(["read:case"]);
  expectProblem(await tenant.call("POST", "/approvals", { body, key: randomUUID(), token }), 403, "access-denied");
  const wrong: [object, string][] = [
    [{}, "cases"],
    [{ cases: [] }, "cases"],
    [{ ...body, website_account_id: "user-1" }, "cases"],
    [{ cases: [...both, both[0]] }, "cases[2].case_id"],
    [{ cases: both, ...blocks }, "account"],
    [{ cases: both, members: "same" }, "members"],
    [{ cases: both, list_entries: [{ list: "a", value: "b" }] }, "list_entries"],
    [{ cases: both, occurrence_ids: ["x"] }, "occurrence_ids"],
    [{ ...body, snooze: { days: 7, scope: "account" } }, "snooze"],
    [{ ...body, occurrence_ids: ["x"] }, "occurrence_ids[0]"],
    [{ ...body, own_disposition: "Nothing" }, "own_disposition"],
    [{ ...body, status: "CLOSED" }, "status"],
    [{ ...body, account: { is_blocked: "true" } }, "account.is_blocked"],
    [{ ...body, account: { crm_account_id: "1" } }, "account.crm_account_id"],
    [{ ...body, note: "" }, "note"],
    [{ ...body, requested_by: "somebody" }, "requested_by"],
    [{ cases: "all" }, "cases"],
    [{ cases: [null] }, "cases[0]"],
    [{ website_account_id: found.website_account_id }, "account"],
    [{ website_account_id: found.website_account_id, ...blocks, reason: "x" }, "reason"],
    [{ website_account_id: "UNKNOWN", ...blocks }, "website_account_id"],
  ];
  for (const [sent, field] of wrong) {
    const answer = await request(ada, sent);
    expect(answer.status, `${JSON.stringify(sent)} ${answer.text}`).toBe(422);
    expect(expectProblem(answer, 422, "validation-error").errors?.map((each) => each.field)).toContain(field);
  }
  const closed = (await close(ben, two)).json.data as Case;
  const { errors } = expectProblem(await request(ada, { cases: seen([found, closed]) }), 422, "validation-error");
  expect(errors?.map(({ field }) => field)).toEqual(["cases[1].case_id"]);
  expect(await listed(ada)).toEqual([]);
  const made = await requested(ada, body);
  expectProblem(await other.ben.call("GET", `/approvals/${made.approval_id}`), 404, "item-not-found");
  expectProblem(await decide(other.ben, made, "APPROVED"), 404, "item-not-found");
  for (const id of [randomUUID(), "x"]) expectProblem(await decide(ben, { approval_id: id }, "APPROVED"), 404, "item-not-found");
  for (const status of ["PENDING", "STALE", "EXPIRED", "approved", "", null, 7])
    expectProblem(await ben.call("PUT", `/approvals/${made.approval_id}`, { body: { status } }), 422, "validation-error");
  for (const query of ["status=pending", "status=", "limit=0", "cursor=x", "case_id="])
    expectProblem(await ada.call("GET", `/approvals?${query}`), 400, "bad-request");
  expect(await listed(ada, "case_id=x")).toEqual([]);
  expect(await listed(other.ada)).toEqual([]);
  expect(await readApproval(ben, made)).toEqual(made);
});

test("GET approvals: pages neither skip nor repeat; the feed shows requests only to those who may read cases", async () => {
  const { tenant, ada } = await team();
  const cases = await openCases(tenant, 3);
  const made: string[] = [];
  for (const each of cases) made.unshift((await requested(ada, { cases: seen([each]) })).approval_id);
  const paged: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const answer = await ada.call("GET", `/approvals?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`);
    const page = answer.json.data as { approvals: { approval_id: string; because: string[] }[]; next_cursor: string | null };
    paged.push(...page.approvals.map(({ approval_id }) => approval_id));
    expect(page.approvals[0]?.because).toEqual([]);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(made);
  const feed = async (scopes: string[]) => {
    const token = await tenant.mint(scopes);
    const { events } = (await tenant.call("GET", "/events?limit=1000", { token })).json.data as { events: { type: string }[] };
    return events.filter(({ type }) => type === "approval.requested").length;
  };
  expect([await feed(["read:events"]), await feed(["read:events", "read:case"])]).toEqual([0, 3]);
});
