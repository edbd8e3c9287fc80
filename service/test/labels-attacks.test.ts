import { expect, test } from "vitest";
import type { Activity } from "../src/domain/activity.ts";
import { roleScopes } from "../src/domain/role.ts";
import type { Scope } from "../src/domain/scope.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService } from "./harness.ts";
import { apply, label, listed, paymentOf, rowsOf, sendScored } from "./labels-lab.ts";

// What a client that may create labels could try. No engine runs here.
const service = useService({ databaseUrl: useOwnDatabase("labels_attacks"), roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);
const shuffled = <T>(all: T[]): T[] => all.toSorted(() => Math.random() - 0.5);

const verdict = (round: number) => (each: Activity) => ({
  ...(round % 3 === 0 ? { order_id: each.order_id ?? "" } : { activity_id: each.activity_id }),
  fraudulent: round % 2 === 0,
});

test("POST labels: requests at once with opposite verdicts on the same activities, by id and by order, all succeed, and one label of each is kept", async () => {
  const tenant = await newTenant();
  const payments = Array.from({ length: 120 }, (_, index) => paymentOf({ order_id: `order-${index}` }));
  await sendScored(tenant, payments);
  const rounds = Array.from({ length: 8 }, (_, round) => label(tenant, shuffled(payments).map(verdict(round))));
  for (const { stored, unchanged, not_found } of await Promise.all([
    ...rounds,
    apply(tenant).then(() => ({ stored: 120, unchanged: 0, not_found: [] })),
  ]))
    expect([stored + unchanged, not_found]).toEqual([120, []]);
  while (((await apply(tenant))?.labels ?? 1) > 0);
  const rows = await rowsOf(tenant);
  expect(rows).toHaveLength(120);
  expect(rows.every(({ y, applied_y }) => y === applied_y)).toBe(true);
});

test("POST labels: odd ids label exactly their own activity", async () => {
  const tenant = await newTenant();
  const ids = [
    "%",
    "_",
    "'",
    "\\",
    "\u202e",
    "e\u0301",
    "\u00e9",
    " a",
    "a ",
    "A",
    "a",
    "\u{1f9ff}".repeat(64),
    "__proto__",
    "null",
  ];
  const payments = ids.map((id) => paymentOf({ activity_id: id, order_id: id }));
  await sendScored(tenant, payments);
  for (const [index, id] of ids.entries()) {
    expect(await label(tenant, [{ activity_id: id, fraudulent: true }])).toEqual({ stored: 1, unchanged: 0, not_found: [] });
    expect(await label(tenant, [{ order_id: id, fraudulent: true }])).toEqual({ stored: 0, unchanged: 1, not_found: [] });
    expect(await listed(tenant, `order_id=${encodeURIComponent(id)}`)).toMatchObject([{ activity_id: id, order_id: id }]);
    expect(await listed(tenant)).toHaveLength(index + 1);
  }
});

test("POST labels: a label that was known at the start of time is stored, shown and counted", async () => {
  const tenant = await newTenant();
  const payment = paymentOf();
  await sendScored(tenant, [payment]);
  const { activity_id } = payment;
  await label(tenant, [{ activity_id, fraudulent: true, known_at: "0001-01-01T00:00:00Z" }]);
  expect(await apply(tenant)).toEqual({ outcomes: 0, labels: 1 });
  expect(await listed(tenant, "since=0001-01-01T00:00:00Z")).toMatchObject([
    { activity_id, known_at: "0001-01-01T00:00:00.000Z" },
  ]);
  expect(await listed(tenant, "since=9999-12-31T23:59:59.999999999Z")).toEqual([]);
  for (const path of ["/models", "/thresholds", "/random-checks", "/imports/report"])
    expect((await tenant.call("GET", path)).status, path).toBe(200);
});

test("POST labels 422: nothing of a batch is stored if one label is wrong, however the batch is written", async () => {
  const tenant = await newTenant();
  const payment = paymentOf();
  await sendScored(tenant, [payment]);
  const good = { activity_id: payment.activity_id, fraudulent: true };
  const bad: unknown[] = [
    { ...good, fraudulent: "true" },
    { ...good, fraudulent: 1 },
    { ...good, source: "case" },
    { ...good, weight: 1e9 },
    { ...good, actor: "somebody else" },
    { ...good, case_id: "00000000-0000-0000-0000-000000000000" },
    { ...good, known_at: "0000-01-01T00:00:00Z" },
    { ...good, known_at: "2026-02-30T00:00:00Z" },
    { ...good, known_at: "9999-12-31T23:59:59Z" },
    { ...good, activity_id: "a\0" },
    { ...good, activity_id: "\ud800" },
    { ...good, activity_id: "x".repeat(65) },
    { fraudulent: true },
  ];
  for (const each of bad)
    expectProblem(await tenant.call("POST", "/labels", { body: { labels: [good, each] } }), 422, "validation-error");
  const many = Array.from({ length: 1_001 }, () => good);
  expectProblem(await tenant.call("POST", "/labels", { body: { labels: many } }), 422, "validation-error");
  expect(await listed(tenant)).toEqual([]);
});

test("GET labels 400: a cursor of another tenant, of other filters or with another letter is rejected", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  const payments = [paymentOf(), paymentOf()];
  for (const each of [tenant, other]) {
    await sendScored(each, payments);
    await label(
      each,
      payments.map(({ activity_id }) => ({ activity_id, fraudulent: true })),
    );
  }
  const { next_cursor: cursor }: { next_cursor: string } = (await tenant.call("GET", "/labels?limit=1")).json.data;
  const spoiled = `${cursor.startsWith("A") ? "B" : "A"}${cursor.slice(1)}`;
  expectProblem(await other.call("GET", `/labels?limit=1&cursor=${cursor}`), 400, "bad-request");
  expectProblem(await tenant.call("GET", `/labels?limit=1&source=api&cursor=${cursor}`), 400, "bad-request");
  expectProblem(await tenant.call("GET", `/labels?limit=1&cursor=${spoiled}`), 400, "bad-request");
  expect(await listed(tenant, `limit=1&cursor=${cursor}`)).toHaveLength(1);
});

const rolesWith = (scope: Scope) => Object.entries(roleScopes).flatMap(([role, has]) => (has.includes(scope) ? [role] : []));

test("roles: only an admin imports history, and an investigator changes neither models nor random checks", () => {
  expect(rolesWith("import:activities")).toEqual(["admin"]);
  expect(rolesWith("manage:models").toSorted()).toEqual(["admin", "lead"]);
});
