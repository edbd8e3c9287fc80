import { randomUUID } from "node:crypto";
import type { JudgedPrecision, MoneyFigures, PersonDay, PersonFigures } from "@casehound/client";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, TestTenant, useService, type Answer } from "./harness.ts";
import { Browser } from "./people.ts";
import { eventually } from "./process.ts";

const service = useService();

type Figures = { days: PersonDay[]; people: PersonFigures[]; precision: JudgedPrecision[]; money: MoneyFigures[] };

async function read<N extends keyof Figures>(tenant: TestTenant, name: N, query = ""): Promise<Figures[N]> {
  const answer = await tenant.call("GET", `/figures/${name}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as Figures)[name];
}

function close(by: TestTenant | Browser, { case_id, case_version }: Case, disposition?: string): Promise<Answer> {
  const body = { status: "CLOSED", case_version, ...(disposition !== undefined && { disposition }) };
  return by.call("PUT", `/cases/${case_id}`, { body, key: randomUUID() });
}

const change = (text: string, ...values: unknown[]) => service.current.database.query(statement(text, values));

// Closes four cases as two people, one of them three days ago, after 1, 2, 3 and 40 hours.
async function withCloses() {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator", { name: "Ada" });
  const name = `Ada <${ada.signedIn.user.email}>`;
  const cases: Case[] = [];
  for (const account of ["user-1", "user-2", "user-3", "user-4"]) cases.push(await tenant.openCase(account));
  const [one, two, three, four] = cases as [Case, Case, Case, Case];
  await close(ada, one, "CONFIRMED_FRAUD");
  await close(ada, two, "FALSE_POSITIVE");
  await close(ada, three);
  await close(tenant, four, "INCONCLUSIVE");
  for (const [index, hours] of [1, 2, 3, 40].entries()) {
    const text =
      "update cases set created_at = (closed_at at time zone 'UTC' - make_interval(hours => $3)) at time zone 'UTC' where tenant_id = $1 and case_id = $2";
    await change(text, tenant.tenantId, cases[index]?.case_id, hours);
  }
  const earlier =
    "update cases set closed_at = (closed_at at time zone 'UTC' - interval '3 days') at time zone 'UTC', created_at = (created_at at time zone 'UTC' - interval '3 days') at time zone 'UTC'";
  await change(`${earlier} where tenant_id = $1 and case_id = $2`, tenant.tenantId, three.case_id);
  return { tenant, ada, name, cases: [one, two, three, four] as const };
}

test("GET figures 200: closes by person and by person and day, with the time to decision; as many as the closed list", async () => {
  const { tenant, name } = await withCloses();
  const today = new Date().toISOString().slice(0, 10);
  const before = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const none = { confirmed: 0, false_positives: 0, inconclusive: 0, none: 0 };
  expect(await read(tenant, "days")).toEqual([
    { day: before, closed_by: name, ...none, closed: 1, none: 1, median_seconds: 10_800, p90_seconds: 10_800 },
    {
      day: today,
      closed_by: name,
      ...none,
      closed: 2,
      confirmed: 1,
      false_positives: 1,
      median_seconds: 5_400,
      p90_seconds: 6_840,
    },
    {
      day: today,
      closed_by: tenant.clientId,
      ...none,
      closed: 1,
      inconclusive: 1,
      median_seconds: 144_000,
      p90_seconds: 144_000,
    },
  ]);
  const people = await read(tenant, "people");
  expect(people).toMatchObject([
    { closed_by: name, closed: 3, confirmed: 1, false_positives: 1, none: 1, median_seconds: 7_200, p90_seconds: 10_080 },
    { closed_by: tenant.clientId, closed: 1, inconclusive: 1, overturned: 0, overturned_share: 0 },
  ]);
  for (const { closed_by, closed } of people)
    expect(await tenant.list(`closed_by=${encodeURIComponent(closed_by)}`)).toHaveLength(closed);
  const [only] = await read(tenant, "people", `start_date=${before}&end_date=${today}`);
  expect(only).toMatchObject({ closed_by: name, closed: 1 });
  const first = await tenant.call("GET", "/figures/days?limit=1");
  const { next_cursor: cursor } = first.json.data as { next_cursor: string };
  expect(await read(tenant, "days", `limit=1&cursor=${cursor}`)).toMatchObject([{ day: today, closed_by: name }]);
  const other = await TestTenant.create(service.current);
  expect([await read(other, "days"), await read(other, "people"), await read(other, "precision")]).toEqual([[], [], []]);
});

test("GET figures 200: a note on a closed case does not move its close to another day", async () => {
  const { tenant, cases } = await withCloses();
  const before = await read(tenant, "days");
  await tenant.call("POST", `/cases/${cases[0].case_id}/notes`, { body: { text: "Later." }, key: randomUUID() });
  expect((await read(tenant, "days")).map(({ day, closed }) => [day, closed])).toEqual(
    before.map(({ day, closed }) => [day, closed]),
  );
});

test("GET figures people: a close that was undone later is overturned; one that was undone at once is not", async () => {
  const { tenant, name, cases } = await withCloses();
  const [one, two] = cases;
  for (const { case_id, case_version } of [one, two])
    await tenant.put(case_id, { status: "OPEN", case_version: case_version + 1 });
  expect((await read(tenant, "people"))[0]).toMatchObject({ closed_by: name, closed: 1, overturned: 0, overturned_share: 0 });
  const text =
    "update overturned_closes set reopened_at = (closed_at at time zone 'UTC' + interval '1 day') at time zone 'UTC' where tenant_id = $1 and case_id = $2";
  await change(text, tenant.tenantId, two.case_id);
  expect((await read(tenant, "people"))[0]).toMatchObject({ closed_by: name, closed: 1, overturned: 1, overturned_share: 0.5 });
});

test("GET figures precision: every rule and model behind a case counts with its outcome", async () => {
  const { tenant, cases } = await withCloses();
  const reported = { kind: "rule", id: "reported_fraud", confirmed: 1, false_positives: 1, inconclusive: 1, precision: 0.5 };
  expect(await read(tenant, "precision")).toEqual([reported]);
  const text = "update cases set judged = 'login.ratio model.payment new_device' where tenant_id = $1 and case_id = $2";
  await change(text, tenant.tenantId, cases[0].case_id);
  const found = { confirmed: 1, false_positives: 0, inconclusive: 0, precision: 1 };
  expect(await read(tenant, "precision")).toEqual([
    { kind: "likelihood_ratio", id: "login.ratio", ...found },
    { kind: "model", id: "payment", ...found },
    { kind: "rule", id: "new_device", ...found },
    { ...reported, confirmed: 0, precision: 0 },
  ]);
});

function pay(order_id: string, more: object) {
  const base = { type: "payment", occurred_at: new Date().toISOString(), website_account_id: "payer" };
  return { ...base, activity_id: randomUUID(), order_id, ...more };
}

test("GET figures money: payments behind confirmed cases by currency, without declined ones, until the case is reopened", async () => {
  const tenant = await TestTenant.create(service.current);
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
  // The report raises the score of a case that the payments may have opened.
  await eventually(async () => expect(await tenant.list("min_score=5")).toHaveLength(1));
  const opened = await tenant.read((await tenant.list())[0]?.case_id ?? "");
  expect((await close(tenant, opened, "CONFIRMED_FRAUD")).status).toBe(200);
  await eventually(async () => {
    expect(await read(tenant, "money")).toEqual([
      { currency: "EUR", cases: 1, payments: 2, amount: 100.75 },
      { currency: "USD", cases: 1, payments: 1, amount: 7 },
    ]);
  });
  await tenant.put(opened.case_id, { status: "OPEN", case_version: opened.case_version + 1 });
  expect(await read(tenant, "money")).toEqual([]);
});

test("GET figures: for leads and admins; a period has at most 92 days; as CSV, safe from formulas", async () => {
  const { tenant, ada, name } = await withCloses();
  const lead = await Browser.join(tenant, "lead");
  for (const path of ["days", "people", "precision", "money"].map((each) => `/figures/${each}`)) {
    expectProblem(await ada.call("GET", path), 403, "access-denied");
    expect((await lead.call("GET", path)).status).toBe(200);
    for (const query of [
      "start_date=x",
      "start_date=2026-01-01&end_date=2026-01-01",
      "start_date=2026-01-01&end_date=2026-04-04",
    ])
      expectProblem(await tenant.call("GET", `${path}?${query}`), 400, "bad-request");
  }
  await change("update cases set closer = '=1+1' where tenant_id = $1 and closer = $2", tenant.tenantId, tenant.clientId);
  const headers = { authorization: `Bearer ${tenant.token}`, accept: "text/csv" };
  const csv = await fetch(`http://127.0.0.1:${service.current.port}/v2/${tenant.slug}/figures/people`, { headers });
  const [head, ...lines] = (await csv.text()).split("\r\n");
  expect(head).toBe(
    "closed_by,closed,confirmed,false_positives,inconclusive,none,median_seconds,p90_seconds,overturned,overturned_share",
  );
  expect(lines).toEqual([expect.stringMatching(/^'=1\+1,1,0,0,1,0,/), expect.stringContaining(name), ""]);
});
