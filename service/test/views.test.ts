import { randomUUID } from "node:crypto";
import type { View, ViewCount } from "@casehound/client";
import { expect, test } from "vitest";
import type { LoggedEvent } from "../src/domain/event.ts";
import { ownViewsMax, sharedViewsMax } from "../src/domain/view.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, TestTenant, useService, type Answer } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService();

type Caller = Pick<TestTenant | Browser, "call">;

function save(caller: Caller, body: unknown): Promise<Answer> {
  return caller.call("POST", "/views", { body });
}

function viewOf(answer: Answer, status = 201): View {
  expect(answer.status, answer.text).toBe(status);
  return answer.json.data;
}

async function viewsOf(caller: Caller): Promise<View[]> {
  return (viewOf(await caller.call("GET", "/views"), 200) as unknown as { views: View[] }).views;
}

function change(caller: Caller, view: View, body: Record<string, unknown>): Promise<Answer> {
  return caller.call("PUT", `/views/${view.view_id}`, { body: { view_version: view.view_version, ...body } });
}

async function countsOf(caller: Caller): Promise<ViewCount[]> {
  return (viewOf(await caller.call("GET", "/views/counts"), 200) as unknown as { counts: ViewCount[] }).counts;
}

const takeovers = { status: "OPEN", label: "Account Takeover", min_score: 4, updated_within_hours: 24 };

test("POST view 201: it has what was sent, and the defaults of the case list", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = { name: "  Take-overs \u202e ✓ ", filter: takeovers, sort: "-updated_at", is_shared: true, key: 3 };
  const view = viewOf(await save(tenant, body));
  expect(view).toEqual({
    ...body,
    view_id: expect.any(String),
    owner: tenant.clientId,
    is_own: true,
    view_version: 1,
    created_at: expect.any(String),
    updated_at: view.created_at,
  });
  const plain = viewOf(await save(tenant, { name: "All" }));
  expect(plain).toMatchObject({ filter: {}, sort: "-created_at", is_shared: false });
  expect(plain).not.toHaveProperty("key");
  expect(await viewsOf(tenant)).toEqual([view, plain]);
});

test("POST view 422: every fault of the filter is named, and nothing is saved", async () => {
  const tenant = await TestTenant.create(service.current);
  const filter = {
    status: "open",
    min_score: "4",
    website_account_id: "",
    closed_by: "x".repeat(1001),
    created_after: "now",
    me: 1,
  };
  const problem = expectProblem(
    await save(tenant, { name: "", filter, sort: "score", key: 10, is_shared: 1 }),
    422,
    "validation-error",
  );
  expect(problem.errors?.map(({ field }) => field)).toEqual([
    "name",
    "filter.status",
    "filter.min_score",
    "filter.website_account_id",
    "filter.closed_by",
    "filter.created_after",
    "filter.me",
    "sort",
    "key",
    "is_shared",
  ]);
  expect(await viewsOf(tenant)).toEqual([]);
});

test("POST view 409: a name that the caller already uses; others may use it too", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  viewOf(await save(ada, { name: "Mine" }));
  expectProblem(await save(ada, { name: "Mine" }), 409, "item-already-exists");
  viewOf(await save(tenant, { name: "Mine" }));
  const both = await Promise.all([1, 2, 3].map(() => save(ada, { name: "At once" })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
});

test("views: only the owner sees a private one; everybody sees a shared one, and only its owner and admins change it", async () => {
  const tenant = await TestTenant.create(service.current);
  const [ada, bob, lead, admin] = await Promise.all([
    Browser.join(tenant, "investigator", { name: "Ada" }),
    Browser.join(tenant, "investigator", { name: "Bob" }),
    Browser.join(tenant, "lead", { name: "Lea" }),
    Browser.join(tenant, "admin", { name: "Amy" }),
  ]);
  const secret = viewOf(await save(ada, { name: "Private" }));
  for (const other of [bob, lead, admin]) {
    expect(await viewsOf(other)).toEqual([]);
    expectProblem(await change(other, secret, { name: "Taken" }), 404, "item-not-found");
    expectProblem(await other.call("DELETE", `/views/${secret.view_id}`), 404, "item-not-found");
  }
  const shared = viewOf(await change(ada, secret, { is_shared: true }), 200);
  expect(await viewsOf(bob)).toEqual([{ ...shared, is_own: false, owner: `Ada <${ada.signedIn.user.email}>` }]);
  for (const other of [bob, lead]) {
    expectProblem(await change(other, shared, { name: "Taken" }), 403, "access-denied");
    expectProblem(await other.call("DELETE", `/views/${shared.view_id}`), 403, "access-denied");
  }
  expect(await viewsOf(ada)).toEqual([shared]);
  const renamed = viewOf(await change(admin, shared, { name: "For all" }), 200);
  expect(renamed).toMatchObject({ name: "For all", is_own: false, view_version: 3 });
  expect((await admin.call("DELETE", `/views/${shared.view_id}`)).status).toBe(204);
  expect(await viewsOf(ada)).toEqual([]);
});

test("views: a person who is renamed keeps their views; a client with the person's id as its name does not get them", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator", { name: "Ada" });
  const { user_id, email } = ada.signedIn.user;
  const view = viewOf(await save(ada, { name: "Mine" }));
  await tenant.call("PUT", `/users/${user_id}`, { body: { name: "Augusta" } });
  expect(await viewsOf(ada)).toEqual([{ ...view, owner: `Augusta <${email}>` }]);
  const text = "select owner from saved_views where tenant_id = $1";
  const [row] = await service.current.database.query<{ owner: string }>(statement(text, [tenant.tenantId]));
  expect(row?.owner).toBe(`user:${user_id}`);
});

test("PUT view: needs the current version; omitted members stay; a repeat changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const view = viewOf(await save(tenant, { name: "A", filter: takeovers, key: 1 }));
  const next = viewOf(await change(tenant, view, { filter: { status: "CLOSED" }, key: null }), 200);
  expect(next).toMatchObject({ name: "A", filter: { status: "CLOSED" }, view_version: 2 });
  expect(next).not.toHaveProperty("key");
  const problem = expectProblem(await change(tenant, view, { name: "B" }), 409, "item-version-conflict");
  expect(problem.current_version).toBe(2);
  expectProblem(await tenant.call("PUT", `/views/${view.view_id}`, { body: { name: "B" } }), 422, "validation-error");
  expect(viewOf(await change(tenant, next, { filter: { status: "CLOSED" }, name: "A" }), 200)).toEqual(next);
  expect(await viewsOf(tenant)).toEqual([next]);
});

test("PUT view: keys are unique among the owner's views, and views can be moved", async () => {
  const tenant = await TestTenant.create(service.current);
  const [a, b, c] = [
    viewOf(await save(tenant, { name: "A", key: 1 })),
    viewOf(await save(tenant, { name: "B", key: 2 })),
    viewOf(await save(tenant, { name: "C" })),
  ];
  const problem = expectProblem(await change(tenant, c, { key: 1 }), 422, "validation-error");
  expect(problem.errors).toEqual([{ field: "key", message: "must be unused: another view has the key 1" }]);
  expectProblem(await save(tenant, { name: "D", key: 2 }), 422, "validation-error");
  const ada = await Browser.join(tenant, "investigator");
  viewOf(await save(ada, { name: "Own", key: 1 }));
  const names = async () => (await viewsOf(tenant)).map(({ name }) => name);
  const first = viewOf(await change(tenant, c, { position: 0 }), 200);
  expect([first.view_version, await names()]).toEqual([2, ["C", "A", "B"]]);
  viewOf(await change(tenant, a, { position: 49 }), 200);
  expect(await names()).toEqual(["C", "B", "A"]);
  expect(viewOf(await change(tenant, b, { position: 1 }), 200).view_version).toBe(1);
  expectProblem(await change(tenant, b, { position: 50 }), 422, "validation-error");
});

test("views: an owner's views and a tenant's shared views are limited", async () => {
  const tenant = await TestTenant.create(service.current);
  const text = `
    insert into saved_views (tenant_id, view_id, owner, name, filter, sort, is_shared, position, view_version, created_at, updated_at)
    select $1, gen_random_uuid(), $2, 'View ' || n, '{}', '-created_at', $3, n, 1, now(), now()
    from generate_series(1, $4::int) as n`;
  const fill = (owner: string, isShared: boolean, count: number) =>
    service.current.database.query(statement(text, [tenant.tenantId, owner, isShared, count]));
  await fill(`client:${tenant.clientId}`, false, ownViewsMax);
  const full = expectProblem(await save(tenant, { name: "One more" }), 422, "validation-error");
  expect(full.errors?.map(({ field }) => field)).toEqual(["name"]);
  for (const owner of ["client:one", "client:two"]) await fill(owner, true, sharedViewsMax / 2);
  const ada = await Browser.join(tenant, "investigator");
  const shared = expectProblem(await save(ada, { name: "For all", is_shared: true }), 422, "validation-error");
  expect(shared.errors?.map(({ field }) => field)).toEqual(["is_shared"]);
  const view = viewOf(await save(ada, { name: "For me" }));
  expectProblem(await change(ada, view, { is_shared: true }), 422, "validation-error");
  // Changing a view that is shared already is not sharing another one.
  const foreign = (await viewsOf(tenant)).find(({ is_own: isOwn }) => !isOwn);
  if (!foreign) throw new Error("no shared view is listed");
  expect(viewOf(await change(tenant, foreign, { name: "Renamed" }), 200).name).toBe("Renamed");
});

test("GET view counts: as many as the list finds with the same filter; `me` is whoever uses the view", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const cases = [await tenant.openCase("user-1"), await tenant.openCase("user-2"), await tenant.openCase("user-3")];
  const [first, second] = cases;
  await tenant.put(first?.case_id ?? "", { status: "CLOSED", case_version: first?.case_version, disposition: "FALSE_POSITIVE" });
  await ada.call("PUT", `/cases/${second?.case_id}/claim`, { body: {} });
  await tenant.call("PUT", "/enduseraccounts/user-3", { body: { is_blocked: true } });
  const filters: Record<string, unknown>[] = [
    {},
    { status: "OPEN" },
    { status: "CLOSED", min_score: 5, label: "Organic" },
    { claimed_by: "me" },
    { claimed_by: "none", status: "OPEN" },
    { website_account_id: "user-2" },
    { website_account_id: "UNKNOWN", user_is_blocked: true },
    { user_is_blocked: true, min_score: 2 },
    { disposition: "FALSE_POSITIVE", closed_by: tenant.clientId },
    { new_evidence: true },
    { updated_within_hours: 1, status: "OPEN" },
    { created_after: "2020-01-01T00:00:00Z", updated_before: "2020-01-02T00:00:00Z" },
  ];
  for (const [at, filter] of filters.entries()) viewOf(await save(ada, { name: `View ${at}`, filter }));
  const views = await viewsOf(ada);
  const expected = await Promise.all(
    views.map(async ({ view_id, filter }) => {
      const query = new URLSearchParams(Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]));
      const listed = viewOf(await ada.call("GET", `/cases?${query.toString()}`), 200) as unknown as { cases: unknown[] };
      return { view_id, cases: listed.cases.length, is_more: false };
    }),
  );
  expect(await countsOf(ada)).toEqual(expected);
  expect(expected.map(({ cases: count }) => count)).toEqual([3, 2, 1, 1, 1, 1, 0, 1, 1, 0, 2, 0]);
  const mine = views[3];
  if (!mine) throw new Error("a view is missing");
  viewOf(await change(ada, mine, { is_shared: true }), 200);
  expect(await countsOf(tenant)).toEqual([{ view_id: mine.view_id, cases: 0, is_more: false }]);
});

test("views: the log says who changed them, and names neither their names nor their filters", async () => {
  const tenant = await TestTenant.create(service.current);
  const name = `Secret ${randomUUID()}`;
  const view = viewOf(await save(tenant, { name, filter: { website_account_id: name } }));
  const shared = viewOf(await change(tenant, view, { is_shared: true }), 200);
  await tenant.call("DELETE", `/views/${shared.view_id}`);
  const feed = await tenant.call("GET", "/events?limit=1000");
  const { events } = feed.json.data as { events: LoggedEvent[] };
  const own = events.filter(({ resource }) => resource.type === "view");
  const resource = { type: "view", id: view.view_id };
  expect(own).toMatchObject([
    { type: "view.created", actor: tenant.clientId, resource: { ...resource, version: 1 }, data: { is_shared: false } },
    { type: "view.updated", resource: { ...resource, version: 2 }, data: { is_shared: true, changed: ["is_shared"] } },
    { type: "view.deleted", resource: { ...resource, version: 2 }, data: { is_shared: true } },
  ]);
  expect(feed.text).not.toContain(name);
  const token = await tenant.mint(["read:events"]);
  expect((await tenant.call("GET", "/events?limit=1000", { token })).text).not.toContain("view.");
});

test("erasure: a view of the account has its pseudonym, in filters and in its name, and a stale change cannot bring the id back", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const account = `victim-${randomUUID()}`;
  await tenant.openCase(account);
  const filter = { website_account_id: account, closed_by: `by ${account}`, handed_to: account, own_disposition: account };
  const view = viewOf(await save(ada, { name: `Watch ${account}`, filter }));
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  const [left] = await viewsOf(ada);
  const pseudonym = left?.filter.website_account_id ?? "";
  expect(pseudonym).toMatch(/^erased-[0-9a-f-]{36}$/);
  expect(left).toMatchObject({ name: `Watch ${pseudonym}`, filter: { closed_by: `by ${pseudonym}`, handed_to: pseudonym } });
  expectProblem(await change(ada, view, { name: `Still ${account}` }), 409, "item-version-conflict");
  const text = "select saved_views::text as row from saved_views where tenant_id = $1";
  const rows = await service.current.database.query<{ row: string }>(statement(text, [tenant.tenantId]));
  expect(JSON.stringify(rows)).not.toContain(account);
});
