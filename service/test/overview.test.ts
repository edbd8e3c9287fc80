import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Case } from "../src/domain/case.ts";
import type { Overview } from "../src/domain/case-digest.ts";
import { medianSeconds, talliesOf } from "../src/domain/tally.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const dayMs = 86_400_000;

async function overview(tenant: TestTenant, query = ""): Promise<Overview> {
  const answer = await tenant.call("GET", `/overview?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

type Counts = {
  open: number;
  new_evidence: number;
  blocked_accounts: number;
  no_account: number;
  last_activity_at: string | null;
};

async function counts(tenant: TestTenant): Promise<Counts> {
  const answer = await tenant.call("GET", "/cases/counts");
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function addEvidence(tenant: TestTenant, account: string, version: number): Promise<Case> {
  await tenant.report(account);
  const [listed] = await tenant.list(`website_account_id=${account}`);
  const id = listed?.case_id ?? "";
  await expect.poll(async () => (await tenant.read(id)).case_version, { timeout: 15_000 }).toBe(version);
  return tenant.read(id);
}

test("GET overview 200: an empty tenant has zeros for every day, and no times", async () => {
  const tenant = await TestTenant.create(service.current);
  const found = await overview(tenant, "start_date=2026-01-01&end_date=2027-01-01");
  expect(found).toMatchObject({ start_date: "2026-01-01", end_date: "2027-01-01", opened: 0, closed: 0, open_cases: 0 });
  expect(found.days).toHaveLength(365);
  expect(found).toMatchObject({ median_seconds_to_close: null, last_activity_at: null });
  expect(found.outcomes).toEqual({ confirmed: 0, false_positives: 0, inconclusive: 0, none: 0 });
  expect(found.backlog.map((each) => each.cases)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await counts(tenant)).toEqual({
    open: 0,
    new_evidence: 0,
    blocked_accounts: 0,
    no_account: 0,
    claimed_by_me: 0,
    handed_to_me: 0,
    overdue: 0,
    waiting_for_approval: 0,
    last_activity_at: null,
  });
});

test("GET overview 200: shows what was opened, closed and reopened today, with outcomes, scores and the backlog", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = [
    await tenant.openCase("user-1"),
    await tenant.openCase("user-2"),
    await tenant.openCase("user-3"),
    await tenant.openCase("user-4"),
  ];
  const close = (index: number, more: object = {}) =>
    tenant.put(cases[index]?.case_id ?? "", { status: "CLOSED", case_version: 1, ...more });
  await close(0, { disposition: "CONFIRMED_FRAUD" });
  await close(1, { disposition: "FALSE_POSITIVE" });
  await close(2, { disposition: "FALSE_POSITIVE" });
  await close(2);
  await tenant.put(cases[2]?.case_id ?? "", { status: "OPEN", case_version: 2 });
  await tenant.put(cases[3]?.case_id ?? "", { status: "CLOSED", case_version: 1 });
  const found = await overview(tenant);
  expect(found.days).toHaveLength(30);
  expect(found.days.at(-1)).toEqual({ day: cases[0]?.created_at.slice(0, 10), opened: 4, closed: 3, reopened: 1 });
  expect(found).toMatchObject({ opened: 4, closed: 3, reopened: 1, open_cases: 1 });
  expect(found.outcomes).toEqual({ confirmed: 1, false_positives: 1, inconclusive: 0, none: 1 });
  expect(found.median_seconds_to_close).toBeLessThan(60);
  expect(found.backlog.map((each) => each.cases)).toEqual([1, 0, 0, 0, 0, 0]);
  expect(found.scores).toEqual([1, 2, 3, 4, 5].map((score) => ({ score, cases: score === 5 ? 1 : 0 })));
  const [youngest, second, , , , oldest] = found.backlog;
  expect(await tenant.list(`status=OPEN&created_after=${youngest?.created_after}`)).toHaveLength(1);
  expect([youngest?.created_before, oldest?.created_after]).toEqual([null, null]);
  expect(Date.parse(second?.created_before ?? "") - Date.parse(youngest?.created_after ?? "")).toBe(1);
  expect(Date.parse(found.last_activity_at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  expect((await overview(await TestTenant.create(service.current))).opened).toBe(0);
});

test("GET overview 200: bulk closes count each case once", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = [await tenant.openCase(), await tenant.openCase()].map(({ case_id }) => ({ case_id, case_version: 1 }));
  const send = () =>
    tenant.call("POST", "/cases/close", { body: { cases: [...cases, ...cases], disposition: "INCONCLUSIVE" }, key: "same" });
  await send();
  await send();
  expect(await overview(tenant)).toMatchObject({ closed: 2, outcomes: { inconclusive: 2, none: 0 }, open_cases: 0 });
});

test("GET overview 400: an invalid day, an empty range and a range longer than a year are rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const query of [
    "start_date=x",
    "start_date=2026-02-30",
    "end_date=2026-01-01T00:00:00Z",
    "start_date=2026-01-02&end_date=2026-01-02",
    "start_date=2025-01-01&end_date=2026-02-01",
  ]) {
    expect(expectProblem(await tenant.call("GET", `/overview?${query}`), 400, "bad-request").detail).toMatch(/parameter|range/);
  }
});

test("new evidence: set from the second occurrence until somebody changes the case, and again after that", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  await tenant.openCase("user-2");
  const fresh = async () => (await tenant.list("new_evidence=true")).map((each) => each.case_id);
  const old = async () => (await tenant.list("new_evidence=false")).length;
  expect([await fresh(), await old()]).toEqual([[], 2]);
  await addEvidence(tenant, "user-1", 2);
  expect([await fresh(), await old()]).toEqual([[case_id], 1]);
  expect(await counts(tenant)).toMatchObject({ open: 2, new_evidence: 1 });
  await tenant.put(case_id, { status: "CLOSED", case_version: 2 });
  expect([await fresh(), await counts(tenant)]).toMatchObject([[], { open: 1, new_evidence: 0 }]);
  await tenant.put(case_id, { status: "OPEN", case_version: 3 });
  expect(await fresh()).toEqual([]);
  await addEvidence(tenant, "user-1", 5);
  expect(await fresh()).toEqual([case_id]);
  for (const sort of ["created_at", "-created_at", "-updated_at", "-overall_risk_score"]) {
    expect((await tenant.list(`new_evidence=true&sort=${sort}&status=OPEN`)).map((each) => each.case_id)).toEqual([case_id]);
  }
  expect(await tenant.list("new_evidence=true&status=CLOSED")).toEqual([]);
  expect(await tenant.list("new_evidence=true&website_account_id=user-1")).toHaveLength(1);
  expect(await tenant.list("new_evidence=true&website_account_id=user-2")).toEqual([]);
  expect(await tenant.list("new_evidence=true&website_account_id=UNKNOWN")).toEqual([]);
});

test("new evidence: erasing a case's account does not set it", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("user-1");
  await tenant.call("DELETE", "/enduseraccounts/user-1");
  expect(await tenant.list("new_evidence=true")).toEqual([]);
});

test("GET case counts 200: counts cases of blocked accounts and cases without an account", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("user-1");
  await tenant.report(undefined, { device_id: "device-1" });
  await expect.poll(() => counts(tenant), { timeout: 15_000 }).toMatchObject({ open: 2, no_account: 1, blocked_accounts: 0 });
  await tenant.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: true } });
  expect(await counts(tenant)).toMatchObject({ open: 2, no_account: 1, blocked_accounts: 1 });
});

test("GET cases 200: max_score and updated_before are the upper bounds to min_score and updated_since", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, created_at } = await tenant.openCase("user-1");
  const later = new Date(Date.parse(created_at) + 1).toISOString();
  expect(await tenant.list("max_score=4")).toEqual([]);
  expect(await tenant.list("min_score=5&max_score=5")).toMatchObject([{ case_id }]);
  expect(await tenant.list("min_score=5&max_score=4")).toEqual([]);
  for (const sort of ["-created_at", "-updated_at", "-overall_risk_score"]) {
    expect(await tenant.list(`updated_before=${created_at}&sort=${sort}`)).toEqual([]);
    expect(await tenant.list(`updated_before=${later}&sort=${sort}`)).toMatchObject([{ case_id }]);
    expect(await tenant.list(`updated_before=${created_at.replace("Z", "1Z")}&sort=${sort}`)).toMatchObject([{ case_id }]);
  }
  for (const query of ["max_score=6", "new_evidence=yes", "updated_before=now"]) {
    expectProblem(await tenant.call("GET", `/cases?${query}`), 400, "bad-request");
  }
});

test("tallies: the median is accurate to five percent, whatever the duration", () => {
  for (const seconds of [1, 30, 600, 5_000, 86_400, 4_000_000]) {
    const opened = Date.UTC(2026, 0, 1);
    const id = uuidV7(opened, new Uint8Array(10));
    const occurred_at = new Date(opened + seconds * 1000).toISOString();
    const resource = { type: "case" as const, id };
    const [tally] = talliesOf([{ type: "case.closed", occurred_at, actor: "x", resource }]);
    const median = medianSeconds(tally ? [tally, { bucket: 0, cases: 0 }] : []) ?? 0;
    expect(Math.abs(median - seconds)).toBeLessThanOrEqual(1 + seconds * 0.05);
    expect(tally?.day).toBe(new Date(opened + seconds * 1000 - ((opened + seconds * 1000) % dayMs)).toISOString().slice(0, 10));
  }
});

test("migration: the new-evidence column agrees with the documents", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("user-1");
  await addEvidence(tenant, "user-1", 2);
  const text = `select count(*) as wrong from cases where tenant_id = $1 and has_new_evidence is distinct from
    (status = 'OPEN' and document::jsonb -> 'current_state' ->> 'changed_by' = 'system' and jsonb_array_length(document::jsonb -> 'state_history') > 0)`;
  expect(await service.current.database.query(statement(text, [tenant.tenantId]))).toEqual([{ wrong: 0 }]);
});
