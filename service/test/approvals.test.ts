import { randomUUID } from "node:crypto";
import type { Approval } from "@casehound/client";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { statement } from "../src/db/postgres/sql.ts";
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
import { expectProblem, useService, type TestTenant } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService();

const team = (settings: Parameters<typeof pair>[1] = {}) => pair(service.current, settings);
const blocks = { disposition: "CONFIRMED_FRAUD", reason: "The customer called.", account: { is_blocked: true } };

async function isBlocked(tenant: TestTenant, { website_account_id: id }: Case): Promise<boolean> {
  return ((await tenant.call("GET", `/enduseraccounts/${id}`)).json.data as { is_blocked: boolean }).is_blocked;
}

async function eventsOf(tenant: TestTenant): Promise<LoggedEvent[]> {
  return ((await tenant.call("GET", "/events?limit=1000")).json.data as { events: LoggedEvent[] }).events;
}

test("approvals: off at first, so a person blocks and closes in bulk alone", async () => {
  const { tenant, ada } = await team();
  const [first, ...others] = await openCases(tenant, 3);
  if (!first) throw new Error("there is no case");
  expect((await close(ada, first, blocks)).status).toBe(200);
  expect((await closeAll(ada, others)).status).toBe(200);
  const answer = await ada.call("POST", "/approvals/check", { body: { cases: [{ case_id: randomUUID(), case_version: 1 }] } });
  expectProblem(answer, 404, "item-not-found");
});

test("PUT case 403: a person cannot block alone; the approver applies exactly what the requester saw, in one change", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const key = randomUUID();
  const body = { status: "CLOSED", case_version: found.case_version, ...blocks };
  const refused = await ada.call("PUT", `/cases/${found.case_id}`, { body, key });
  expect(expectProblem(refused, 403, "access-denied").detail).toMatch(/blocks an account.*POST \/v2\/.*\/approvals/);
  expect(await tenant.read(found.case_id)).toEqual(found);
  // The key is free: a close that needs nobody can use it, and so the first request is not replayed.
  const checked = await ada.call("POST", "/approvals/check", { body: { cases: seen([found]), ...blocks } });
  expect(checked.json.data).toEqual({ needs_approval: true, because: ["blocking"], approvers: [nameOf(ben)] });
  const made = await requested(ada, { cases: seen([found]), ...blocks, note: "Please check." });
  expect(made).toMatchObject({
    status: "PENDING",
    because: ["blocking"],
    case_count: 1,
    case_id: found.case_id,
    closing: blocks,
    note: "Please check.",
    requested_by: nameOf(ada),
  });
  const { case_id, case_version, website_account_id } = found;
  expect(made.cases).toEqual([
    {
      case_id,
      case_version,
      current_version: case_version,
      status: "OPEN",
      website_account_id,
      overall_risk_score: 5,
      primary_fraud_label: found.details.primary_fraud_label,
    },
  ]);
  expect(await tenant.read(case_id)).toEqual(found);
  expect(await listed(ben, "status=PENDING")).toEqual([made.approval_id]);
  expect(await listed(ben, `case_id=${case_id}`)).toEqual([made.approval_id]);
  const approved = await decide(ben, made, "APPROVED", "I agree.");
  expect(approved.status, approved.text).toBe(200);
  expect(approved.json.data).toMatchObject({ status: "APPROVED", decided_by: nameOf(ben), decision_note: "I agree." });
  const closed = await tenant.read(case_id);
  expect(closed).toMatchObject({ status: "CLOSED", case_version: case_version + 1, end_user_is_blocked: true });
  expect(closed.current_state).toMatchObject({
    changed_by: nameOf(ada),
    approved_by: nameOf(ben),
    reason: blocks.reason,
    disposition: "CONFIRMED_FRAUD",
  });
  const events = await eventsOf(tenant);
  expect(events.slice(-3).map(({ type, actor }) => [type, actor])).toEqual([
    ["case.closed", nameOf(ada)],
    ["account.updated", nameOf(ada)],
    ["approval.decided", nameOf(ben)],
  ]);
  expect(events.at(-3)?.data).toMatchObject({ approved_by: nameOf(ben) });
  expect(events.at(-2)?.data).toEqual({ is_blocked: true, approved_by: nameOf(ben) });
  expect(events.at(-1)?.data).toEqual({ status: "APPROVED", because: ["blocking"], cases: 1, case_id });
  expect(events.find(({ type }) => type === "approval.requested")?.actor).toBe(nameOf(ada));
  // Repeating it changes nothing.
  expect((await decide(ben, made, "APPROVED")).json.data).toEqual(approved.json.data);
  expect((await tenant.read(case_id)).case_version).toBe(case_version + 1);
  expect(await eventsOf(tenant)).toHaveLength(events.length);
  // Reopening is as before.
  expect((await close(ada, closed, { status: "OPEN" })).status).toBe(200);
});

async function waiting(by: Browser): Promise<number> {
  return ((await by.call("GET", "/cases/counts")).json.data as { waiting_for_approval: number }).waiting_for_approval;
}

test("approvals: the requester gets the decision in the inbox, and others see how many requests are pending", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const [one, two] = (await openCases(tenant, 2)) as [Case, Case];
  const made = await requested(ada, { cases: seen([one]), ...blocks });
  const other = await requested(ada, { website_account_id: two.website_account_id, account: { is_blocked: true } });
  expect([await waiting(ada), await waiting(ben)]).toEqual([0, 2]);
  expect((await decide(ben, made, "REJECTED", "Ask her for the order first.")).status).toBe(200);
  expect((await decide(ben, other, "APPROVED")).status).toBe(200);
  expect([await waiting(ada), await waiting(ben)]).toEqual([0, 0]);
  const { notices } = (await ada.call("GET", "/inbox")).json.data as { notices: object[] };
  const common = { kind: "approval", created_by: nameOf(ben), is_read: false };
  expect(notices).toMatchObject([
    { ...common, approval_id: other.approval_id, decision: "APPROVED", website_account_id: two.website_account_id, text: "" },
    {
      ...common,
      approval_id: made.approval_id,
      decision: "REJECTED",
      case_id: one.case_id,
      text: "Ask her for the order first.",
    },
  ]);
  expect((await ben.call("GET", "/inbox")).json.data).toMatchObject({ notices: [] });
  expect([await isBlocked(tenant, one), await isBlocked(tenant, two)]).toEqual([false, true]);
  expect((await tenant.read(one.case_id)).status).toBe("OPEN");
  expect((await tenant.read(two.case_id)).end_user_is_blocked).toBe(true);
});

test("PUT approval 409: new evidence, a note or a reopening since the request applies nothing, and the request is stale", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const [one, two] = (await openCases(tenant, 2)) as [Case, Case];
  const made = await requested(ada, { cases: seen([one, two]), disposition: "FALSE_POSITIVE" });
  await ben.call("POST", `/cases/${two.case_id}/notes`, { body: { text: "Wait." }, key: randomUUID() });
  const stale = await decide(ben, made, "APPROVED");
  expect(expectProblem(stale, 409, "item-version-conflict").current_version).toBe(two.case_version + 1);
  expect(await readApproval(ben, made)).toMatchObject({ status: "STALE" });
  expect(await listed(ben, "status=STALE")).toEqual([made.approval_id]);
  expect(await listed(ben, "status=PENDING")).toEqual([]);
  expect(await tenant.read(one.case_id)).toEqual(one);
  expect((await ada.call("GET", "/inbox/unread")).json.data).toEqual({ unread: 0 });
  // A case that somebody closes otherwise makes the request stale too, also after it was reopened.
  const next = await requested(ada, { cases: seen([one]) });
  await close(ben, one);
  expectProblem(await decide(ben, next, "APPROVED"), 409, "item-version-conflict");
  await close(ben, await tenant.read(one.case_id), { status: "OPEN" });
  expectProblem(await decide(ben, next, "APPROVED"), 409, "item-version-conflict");
  expect((await decide(ben, next, "REJECTED")).json.data).toMatchObject({ status: "REJECTED" });
});

test("POST cases/close 403: more cases than the limit need a second person, in one request or in many within the period", async () => {
  const { tenant, ada, ben } = await team({ bulk_over: 3, bulk_minutes: 30 });
  const cases = await openCases(tenant, 9);
  expectProblem(await closeAll(ada, cases.slice(0, 4)), 403, "access-denied");
  expect(await tenant.list("status=CLOSED")).toEqual([]);
  expect((await closeAll(ada, cases.slice(0, 2))).status).toBe(200);
  expect(expectProblem(await closeAll(ada, cases.slice(2, 4)), 403, "access-denied").detail).toContain(
    "the number of cases that one person may close",
  );
  const [third, fourth, ...rest] = cases.slice(2) as [Case, Case, ...Case[]];
  expect((await close(ada, third)).status).toBe(200);
  expectProblem(await close(ada, fourth), 403, "access-denied");
  // Others have a count of their own, and clients none.
  expect((await close(ben, fourth)).status).toBe(200);
  const made = await requested(ada, { cases: seen(rest), disposition: "FALSE_POSITIVE" });
  expect(made).toMatchObject({ because: ["bulk"], case_count: 5 });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  expect(await tenant.list("status=OPEN")).toEqual([]);
  const approved = await tenant.read(rest[0]?.case_id ?? "");
  expect(approved.current_state).toMatchObject({ changed_by: nameOf(ada), approved_by: nameOf(ben) });
  // Closed cases that are closed again do not count, and approved closes do not either.
  expect((await closeAll(ada, await Promise.all(cases.map(({ case_id }) => tenant.read(case_id))))).status).toBe(200);
  const past = "update cases set closed_at = closed_at - interval '31 minutes' where tenant_id = $1 and approver is null";
  await service.current.database.query(statement(past, [tenant.tenantId]));
  expect((await closeAll(ada, await openCases(tenant, 3))).status).toBe(200);
});

test("bulk: many closes of one person at once cannot pass the limit together, nor under a new name", async () => {
  const { tenant, ada } = await team({ bulk_over: 3 });
  const cases = await openCases(tenant, 8);
  const answers = await Promise.all([
    ...cases.slice(0, 4).map((each) => close(ada, each)),
    closeAll(ada, cases.slice(4, 6)),
    closeAll(ada, cases.slice(6, 8)),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
  const closed = await tenant.list("status=CLOSED");
  expect(closed.length).toBeGreaterThan(0);
  expect(closed.length).toBeLessThanOrEqual(3);
  await setApprovals(tenant, { bulk_over: closed.length });
  await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { name: "Ada Renamed" } });
  const [free] = await tenant.list("status=OPEN");
  expectProblem(await close(ada, await tenant.read(free?.case_id ?? "")), 403, "access-denied");
});

test("PUT and POST account 403: blocking needs a second person; unblocking and other flags do not", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const path = `/enduseraccounts/${found.website_account_id}`;
  const block = { is_blocked: true, is_fraudulent: true };
  expectProblem(await ada.call("PUT", path, { body: block }), 403, "access-denied");
  expect(await isBlocked(tenant, found)).toBe(false);
  const lead = await Browser.join(tenant, "lead");
  const added = { website_account_id: `new-${randomUUID()}`, is_blocked: true };
  expectProblem(await lead.call("POST", "/enduseraccounts", { body: added }), 403, "access-denied");
  expectProblem(await tenant.call("GET", `/enduseraccounts/${added.website_account_id}`), 404, "item-not-found");
  expect((await ada.call("PUT", path, { body: { is_fraudulent: true } })).status).toBe(200);
  const made = await requested(ada, { website_account_id: found.website_account_id, account: block });
  expect(made).toMatchObject({ case_count: 0, cases: [], because: ["blocking"], website_account_id: found.website_account_id });
  expect(await listed(ben, `website_account_id=${found.website_account_id}`)).toEqual([made.approval_id]);
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  expect(await isBlocked(tenant, found)).toBe(true);
  const updated = (await eventsOf(tenant)).find(({ data }) => data?.["approved_by"] !== undefined);
  expect(updated).toMatchObject({ type: "account.updated", actor: nameOf(ada), data: { approved_by: nameOf(ben) } });
  // Setting the flag that is already set changes nothing.
  expect((await ada.call("PUT", path, { body: { is_blocked: true } })).status).toBe(200);
  expect((await close(ada, found, { account: { is_blocked: true } })).status).toBe(200);
  expect((await ada.call("PUT", path, { body: { is_blocked: false } })).status).toBe(200);
});

test("races: one of two approvals, of an approval and a withdrawal, of an approval and a note wins; nothing is half applied", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const eve = await Browser.join(tenant, "lead", { name: "Eve" });
  for (const rival of ["APPROVED", "WITHDRAWN", "REJECTED", "note", "close"]) {
    const found = await tenant.openCase();
    const made = await requested(ada, { cases: seen([found]), ...blocks });
    const other = {
      APPROVED: () => decide(eve, made, "APPROVED"),
      REJECTED: () => decide(eve, made, "REJECTED"),
      WITHDRAWN: () => decide(ada, made, "WITHDRAWN"),
      note: () => eve.call("POST", `/cases/${found.case_id}/notes`, { body: { text: "New." }, key: randomUUID() }),
      close: () => close(eve, found),
    }[rival];
    if (!other) throw new Error(rival);
    const [mine, its] = await Promise.all([decide(ben, made, "APPROVED"), other()]);
    const after = await tenant.read(found.case_id);
    const { status, decided_by } = await readApproval(ben, made);
    const isApproved = after.current_state.approved_by !== undefined;
    expect(await isBlocked(tenant, found), rival).toBe(isApproved);
    expect(status === "APPROVED").toBe(isApproved);
    expect(after.current_state.approved_by).toBe(isApproved ? decided_by : undefined);
    // A note can follow the close.
    const won = [mine.status, its.status].filter((each) => each === 200);
    expect(won.length === 1 || rival === "note").toBe(true);
    expect(mine.status === 200, `${rival}: ${mine.text}`).toBe(isApproved && decided_by === nameOf(ben));
  }
});

test("POST approvals 201: a repeat with the same key shows the same request; another body with that key gets 409", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const body = { cases: seen([found]), ...blocks };
  const key = randomUUID();
  const answers = await Promise.all([1, 2, 3].map(() => request(ada, body, key)));
  const ids = answers.map(({ json }) => (json.data as Approval).approval_id);
  expect(new Set(ids).size).toBe(1);
  expect(await listed(ada)).toHaveLength(1);
  expectProblem(await request(ada, { ...body, note: "x" }, key), 409, "operation-idempotency-conflict");
  await decide(ben, { approval_id: ids[0] ?? "" }, "REJECTED");
  const late = await request(ada, body, key);
  expect([late.status, late.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  expect(late.json.data).toMatchObject({ approval_id: ids[0], status: "REJECTED" });
});

test("approvals expire after seven days, and nobody can approve them any more", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), ...blocks });
  expect(Date.parse(made.expires_at) - Date.parse(made.requested_at)).toBe(7 * 86_400_000);
  const past = "update approvals set expires_at = now() where tenant_id = $1";
  await service.current.database.query(statement(past, [tenant.tenantId]));
  expect(await listed(ben, "status=EXPIRED")).toEqual([made.approval_id]);
  expect(await readApproval(ada, made)).toMatchObject({ status: "EXPIRED" });
  expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
});

test("GET approval 200: a case without an account says what it is about", async () => {
  const { tenant, ada } = await team();
  const cases = seen([await tenant.openDeviceCase("kiosk"), await tenant.openCase("ann")]);
  const made = await requested(ada, { cases });
  expect(made.cases).toMatchObject([
    { website_account_id: "UNKNOWN", subject: { kind: "device", id: "kiosk" } },
    { website_account_id: "ann" },
  ]);
  expect(made.cases[1]).not.toHaveProperty("subject");
});
