import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { activityKey } from "../src/db/inbox.ts";
import { saveLabels } from "../src/db/labels.ts";
import { roleScopes } from "../src/domain/role.ts";
import type { ScoredActivity } from "../src/domain/session.ts";
import { TestTenant, expectProblem } from "./harness.ts";
import { apply, label, listed, paymentOf, rowsOf, sendScored } from "./labels-lab.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);
const known_at = "2026-05-02T10:00:00.000Z";

async function eventsOf(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  const answer = await tenant.call("GET", "/events");
  const { events } = answer.json.data as { events: { type: string }[] };
  return events.filter(({ type }) => type.startsWith("label"));
}

test("POST labels 200: labels by activity and by order are stored before the response, with one event", async () => {
  const tenant = await newTenant();
  const [one, two, twice] = [paymentOf(), paymentOf({ order_id: "o-2" }), paymentOf({ order_id: "o-2" })];
  await sendScored(tenant, [one, two, twice, paymentOf({ order_id: "o-3" })]);
  const result = await label(tenant, [
    { activity_id: one.activity_id, fraudulent: true, known_at },
    { order_id: "o-2", fraudulent: false },
  ]);
  expect(result).toEqual({ stored: 2, unchanged: 0, not_found: [] });
  const labels = await listed(tenant);
  expect(labels).toHaveLength(3);
  expect(labels.find(({ activity_id }) => activity_id === one.activity_id)).toEqual({
    activity_id: one.activity_id,
    source: "api",
    fraudulent: true,
    weight: 1,
    event_at: one.occurred_at,
    labelled_at: expect.stringMatching(/Z$/),
    known_at,
    actor: tenant.clientId,
  });
  expect(labels.filter(({ order_id }) => order_id === "o-2").map(({ fraudulent }) => fraudulent)).toEqual([false, false]);
  expect(await eventsOf(tenant)).toMatchObject([
    { type: "labels.stored", actor: tenant.clientId, data: { stored: 2, fraudulent: 1 } },
  ]);
});

test("POST labels 200: the same label again changes nothing and logs nothing; a later label replaces it", async () => {
  const tenant = await newTenant();
  const payment = paymentOf();
  await sendScored(tenant, [payment]);
  const { activity_id } = payment;
  const first = { activity_id, fraudulent: true, known_at };
  expect(await label(tenant, [first])).toMatchObject({ stored: 1 });
  const before = await listed(tenant);
  for (const again of [first, { activity_id, fraudulent: true }])
    expect(await label(tenant, [again])).toEqual({ stored: 0, unchanged: 1, not_found: [] });
  expect(await listed(tenant)).toEqual(before);
  expect(await eventsOf(tenant)).toHaveLength(1);
  expect(await label(tenant, [{ ...first, fraudulent: false }])).toMatchObject({ stored: 1 });
  expect(await listed(tenant)).toMatchObject([{ activity_id, fraudulent: false }]);
});

test("POST labels 200: unknown activities, other tenants' activities and what cannot be labelled are listed by index, and the rest is stored", async () => {
  const [tenant, other] = await Promise.all([newTenant(), newTenant()]);
  const [own, foreign] = [paymentOf({ order_id: "own" }), paymentOf({ order_id: "foreign" })];
  const view = paymentOf({ type: "page_view", order_id: "viewed" });
  const failed = paymentOf({ type: "login_failed" });
  await sendScored(tenant, [own, view, failed]);
  await sendScored(other, [foreign]);
  const named = ["absent", own.activity_id, foreign.activity_id, view.activity_id, failed.activity_id];
  const orders = ["absent", "own", "foreign", "viewed"];
  const result = await label(tenant, [
    ...named.map((activity_id) => ({ activity_id, fraudulent: true })),
    ...orders.map((order_id) => ({ order_id, fraudulent: true })),
  ]);
  // The last label of an activity in a request counts.
  expect(result).toEqual({ stored: 1, unchanged: 1, not_found: [0, 2, 3, 4, 5, 7, 8] });
  expect(await listed(tenant)).toMatchObject([{ activity_id: own.activity_id }]);
  expect(await listed(other)).toEqual([]);
});

test("POST labels 422: the field that is wrong is named, and nothing is stored", async () => {
  const tenant = await newTenant();
  const { activity_id } = paymentOf();
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const valid = { activity_id, fraudulent: true };
  const cases: [unknown, string][] = [
    [{ fraudulent: true }, "labels[1].activity_id"],
    [{ ...valid, order_id: "o" }, "labels[1].order_id"],
    [{ activity_id }, "labels[1].fraudulent"],
    [{ ...valid, fraudulent: 1 }, "labels[1].fraudulent"],
    [{ ...valid, known_at: "2026-02-30T00:00:00.000Z" }, "labels[1].known_at"],
    [{ ...valid, known_at: future }, "labels[1].known_at"],
    [{ ...valid, activity_id: "x".repeat(65) }, "labels[1].activity_id"],
    [{ order_id: "x".repeat(129), fraudulent: true }, "labels[1].order_id"],
    [{ ...valid, weight: 1 }, "labels[1].weight"],
  ];
  for (const [wrong, field] of cases) {
    const answer = await tenant.call("POST", "/labels", { body: { labels: [valid, wrong] } });
    expect(expectProblem(answer, 422, "validation-error").errors?.map((each) => each.field)).toEqual([field]);
  }
  for (const labels of [[], Array.from({ length: 1001 }, () => valid)])
    expectProblem(await tenant.call("POST", "/labels", { body: { labels } }), 422, "validation-error");
  expect(await rowsOf(tenant)).toEqual([]);
});

test("POST labels 200: a thousand labels with the longest ids fit into one request", async () => {
  const tenant = await newTenant();
  const labels = Array.from({ length: 1000 }, (_, index) => ({
    order_id: `${"é".repeat(124)}${1000 + index}`,
    fraudulent: true,
    known_at,
  }));
  expect(await label(tenant, labels)).toMatchObject({ stored: 0, not_found: labels.map((_, index) => index) });
});

test("POST labels: of two concurrent requests for one activity both succeed, and one label is kept", async () => {
  const tenant = await newTenant();
  const payments = Array.from({ length: 40 }, () => paymentOf());
  await sendScored(tenant, payments);
  const batches = [true, false, true, false].map((fraudulent, index) => {
    const labels = payments.map(({ activity_id }) => ({ activity_id, fraudulent }));
    return index % 2 === 0 ? labels : labels.toReversed();
  });
  await Promise.all(batches.map((labels) => label(tenant, labels)));
  const labels = await listed(tenant);
  expect(labels).toHaveLength(payments.length);
  expect(new Set(labels.map(({ fraudulent }) => fraudulent)).size).toBe(1);
});

test("GET labels 200: filters by activity, order, source and time, in pages, the latest first", async () => {
  const tenant = await newTenant();
  const payments = Array.from({ length: 5 }, (_, index) => paymentOf({ order_id: `o-${index % 2}` }));
  await sendScored(tenant, payments);
  for (const { activity_id } of payments) await label(tenant, [{ activity_id, fraudulent: true }]);
  const all = await listed(tenant);
  expect(all.map(({ labelled_at }) => labelled_at)).toEqual(
    all
      .map(({ labelled_at }) => labelled_at)
      .toSorted()
      .toReversed(),
  );
  const paged: unknown[] = [];
  for (let cursor = ""; ;) {
    const answer = await tenant.call("GET", `/labels?limit=2${cursor}`);
    const { labels, next_cursor } = answer.json.data as { labels: unknown[]; next_cursor: string | null };
    paged.push(...labels);
    if (next_cursor === null) break;
    cursor = `&cursor=${next_cursor}`;
  }
  expect(paged).toEqual(all);
  expect(await listed(tenant, `activity_id=${payments[0]?.activity_id}`)).toMatchObject([{ order_id: "o-0" }]);
  expect(await listed(tenant, "order_id=o-1")).toHaveLength(2);
  expect(await listed(tenant, "order_id=o-1&source=report")).toEqual([]);
  expect(await listed(tenant, "source=api")).toEqual(all);
  const since = all[1]?.labelled_at ?? "";
  expect(await listed(tenant, `since=${since}`)).toEqual(all.filter(({ labelled_at }) => labelled_at >= since));
  expect(await listed(tenant, `activity_id=${randomUUID()}`)).toEqual([]);
  expectProblem(await tenant.call("GET", "/labels?source=guess"), 400, "bad-request");
  expectProblem(await tenant.call("GET", "/labels?since=yesterday"), 400, "bad-request");
});

test("DELETE account 204: the account's labels are erased, and another account's stay", async () => {
  const tenant = await newTenant();
  const [own, other] = [paymentOf({ website_account_id: "erased-1" }), paymentOf({ website_account_id: "kept-1" })];
  await sendScored(tenant, [own, other]);
  await label(
    tenant,
    [own, other].map(({ activity_id }) => ({ activity_id, fraudulent: true })),
  );
  expect((await tenant.call("DELETE", "/enduseraccounts/erased-1")).status).toBe(204);
  expect(await rowsOf(tenant)).toHaveLength(1);
  expect(await listed(tenant)).toMatchObject([{ activity_id: other.activity_id }]);
  expect(await apply(tenant)).toEqual({ outcomes: 0, labels: 1 });
  expect(await label(tenant, [{ activity_id: own.activity_id, fraudulent: true }])).toMatchObject({ not_found: [0] });
});

test("roles: an investigator reads labels, and only a lead or an admin creates them", () => {
  expect(roleScopes.investigator).toContain("read:labels");
  expect(roleScopes.investigator).not.toContain("create:labels");
  expect(roleScopes.lead).toContain("create:labels");
});

test("GET activities 200: a labelled activity shows the label that decides, to callers who may read labels", async () => {
  const tenant = await newTenant();
  const [paid, other] = [paymentOf({ website_account_id: "ann" }), paymentOf({ website_account_id: "ann" })];
  await sendScored(tenant, [paid, other]);
  await label(tenant, [{ activity_id: paid.activity_id, fraudulent: false, known_at }]);
  const shown = async (token = tenant.token) => {
    const answer = await tenant.call("GET", "/enduseraccounts/ann/activities", { token });
    const { activities } = answer.json.data as { activities: ScoredActivity[] };
    return new Map(activities.map((each) => [each.activity_id, each.label]));
  };
  expect(await shown()).toEqual(
    new Map([
      [other.activity_id, undefined],
      [paid.activity_id, { fraudulent: false, source: "api", known_at }],
    ]),
  );
  const { database } = service.current;
  const key = activityKey({ origin: "server", activity_id: paid.activity_id });
  const case_id = randomUUID();
  const at = { event_at: known_at, labelled_at: known_at, known_at };
  const decided = { weight: 1, ...at, case_id, case_version: 2, actor: "Ada" };
  const activity = { id_key: key, received_at: known_at };
  await database.transaction((tx) => saveLabels(tx, tenant.tenantId, [{ activity, source: "case", y: 1, ...decided }]));
  expect((await shown()).get(paid.activity_id)).toEqual({ fraudulent: true, source: "case", known_at, case_id });
  const token = await tenant.mint(["read:enduseraccount"]);
  expect([...(await shown(token)).values()]).toEqual([undefined, undefined]);
});
