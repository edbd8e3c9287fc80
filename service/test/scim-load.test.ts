import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { Browser, newEmail } from "./people.ts";
import { Directory, expectScimError } from "./scim-lab.ts";

// What a directory of one tenant may cost everybody else.
const service = useService({ roles: new Set(["api"]) });
let tenant: TestTenant;
let directory: Directory;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  directory = await Directory.connect(tenant, { adopts_people: true });
});

const comparisons = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} co "${index}"`).join(" or ");

test.each([
  ["Users", "groups"],
  ["Users", "groups.display"],
  ["Groups", "members"],
  ["Groups", "MEMBERS.value"],
])("a filter of %s compares %s only a few times", async (type, name) => {
  const ask = (filter: string) => directory.ask("GET", `/${type}?filter=${encodeURIComponent(filter)}`);
  expect((await ask(comparisons(name, 5))).status).toBe(200);
  const [list = ""] = name.split(".");
  for (const filter of [
    comparisons(name, 6),
    `not (${comparisons(name, 6)})`,
    `${list}[${comparisons("value", 6)}]`,
    `${list}[${comparisons("value", 3)}] or ${list}[not (${comparisons("display", 3)})]`,
  ])
    expectScimError(await ask(filter), 400, "bad-request", "tooMany");
});

const remove = (count: number) => ({ op: "remove", path: `members[not (${comparisons("value", count)})]` });

test("a change of a group compares its members at most 100 times", async () => {
  const id = await directory.create(newEmail());
  const made = await directory.ask("POST", "/Groups", { displayName: "Compared", members: [{ value: id }] });
  const change = (...counts: number[]) => directory.patch(`/Groups/${made.json.id}`, ...counts.map(remove));
  expectScimError(await change(40, 40, 21), 400, "bad-request", "tooMany");
  expect((await change(40, 40, 20)).status).toBe(204);
});

test("a change that waits for a role does not block the tenant's events", async () => {
  const own = await TestTenant.create(service.current);
  const all = await Directory.connect(own);
  await own.call("POST", "/roles", { body: { role: "auditor", scopes: ["read:cases"] } });
  await own.call("PUT", "/scim", { body: { role_groups: [{ group: "Leads", role: "lead" }] } });
  const id = await all.create(newEmail());
  await own.call("PUT", `/users/${id}`, { body: { role: "auditor" } });
  const holder = await service.current.database.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("select 1 from tenant_roles where tenant_id = $1 for update", [own.tenantId]);
  const made = all.ask("POST", "/Groups", { displayName: "Leads", members: [{ value: id }] });
  const waiting =
    "select pid from pg_stat_activity where wait_event_type = 'Lock' and pg_backend_pid() = any(pg_blocking_pids(pid))";
  await vi.waitFor(async () => expect((await holder.query(waiting)).rowCount).toBe(1), 5_000);
  await holder.query("select 1 from event_counters where tenant_id = $1 for update nowait", [own.tenantId]);
  await holder.query("rollback");
  expect((await made).status).toBe(201);
  expect((await all.read(id)).roles).toEqual([{ value: "lead" }]);
});

test("one change gives many people another role: each change is in the audit trail, and one admin stays", async () => {
  const own = await TestTenant.create(service.current);
  const admins = [await Browser.join(own, "admin"), await Browser.join(own, "admin")];
  const all = await Directory.connect(own, { adopts_people: true });
  const ids = admins.map(({ signedIn }) => signedIn.user.user_id);
  for (let count = 0; count < 5; count++) ids.push(await all.create(newEmail()));
  const group = await all.ask("POST", "/Groups", { displayName: "Everybody", members: ids.map((value) => ({ value })) });
  expect(group.status, group.text).toBe(201);
  const set = await own.call("PUT", "/scim", { body: { role_groups: [{ group: "Everybody", role: "lead" }] } });
  expect(set.status, set.text).toBe(200);
  const roles = await Promise.all(ids.map(async (id) => (await all.read(id)).roles[0]?.value));
  expect(["admin", "lead"].map((role) => roles.filter((each) => each === role).length)).toEqual([1, 6]);
  const { events } = (await own.call("GET", "/events?limit=1000")).json.data as {
    events: { type: string; resource: { id: string }; data?: { role?: string } }[];
  };
  const changed = events.filter(({ type, data }) => type === "user.updated" && data?.role === "lead");
  const demoted = ids.filter((_, index) => roles[index] === "lead");
  expect(changed.map(({ resource }) => resource.id).toSorted()).toEqual(demoted.toSorted());
});
