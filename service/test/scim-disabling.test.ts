import { beforeAll, expect, test } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { invite, newEmail } from "./people.ts";
import { Directory, expectScimError } from "./scim-lab.ts";

// Who can disable people, and who can enable them again.
const service = useService({ roles: new Set(["api"]) });
let tenant: TestTenant;
let directory: Directory;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  directory = await Directory.connect(tenant);
});

const off = { op: "replace", path: "active", value: false };

test("a person whom an admin has disabled here is not enabled by a directory", async () => {
  const email = newEmail();
  const id = await directory.create(email);
  await tenant.call("PUT", `/users/${id}`, { body: { is_disabled: true } });
  const on = { op: "replace", path: "active", value: true };
  expect(expectScimError(await directory.patch(`/Users/${id}`, on), 403, "access-denied").detail).toContain("Only an admin");
  expectScimError(await directory.ask("PUT", `/Users/${id}`, { userName: email, active: true }), 403, "access-denied");
  // Nor by disabling first.
  expect((await directory.patch(`/Users/${id}`, off)).json.active).toBe(false);
  expectScimError(await directory.patch(`/Users/${id}`, on), 403, "access-denied");
  await tenant.call("PUT", `/users/${id}`, { body: { is_disabled: false } });
  await directory.patch(`/Users/${id}`, off);
  expect((await directory.patch(`/Users/${id}`, on)).json.active).toBe(true);
});

test("a person whom an admin has disabled here is not enabled by a directory that deletes and creates them", async () => {
  const email = newEmail();
  const id = await directory.create(email);
  const disable = (is_disabled: boolean) => tenant.call("PUT", `/users/${id}`, { body: { is_disabled } });
  const create = (active: boolean) => directory.ask("POST", "/Users", { userName: email, active });
  await disable(true);
  expect((await directory.ask("DELETE", `/Users/${id}`)).status).toBe(204);
  expect(expectScimError(await create(true), 403, "access-denied").detail).toContain("Only an admin");
  // Nor in two steps.
  expect((await create(false)).json).toMatchObject({ id, active: false });
  expectScimError(await directory.patch(`/Users/${id}`, { op: "replace", path: "active", value: true }), 403, "access-denied");
  // Nor if the admin disables them after the deletion.
  await disable(false);
  expect((await directory.ask("DELETE", `/Users/${id}`)).status).toBe(204);
  await disable(false);
  await disable(true);
  expectScimError(await create(true), 403, "access-denied");
  await disable(false);
  await disable(true);
  expect((await create(false)).status).toBe(201);
  await disable(false);
  expect((await directory.ask("DELETE", `/Users/${id}`)).status).toBe(204);
  expect((await create(true)).json).toMatchObject({ id, active: true });
});

test("a person whom a directory deletes without having created them comes back with the next request for them", async () => {
  const all = await Directory.connect(await TestTenant.create(service.current), { adopts_people: true });
  const { user } = await invite(all.tenant, "lead");
  // Deleting twice changes nothing.
  for (let time = 0; time < 2; time++) expect((await all.ask("DELETE", `/Users/${user.user_id}`)).status).toBe(204);
  const back = await all.ask("POST", "/Users", { userName: user.email });
  expect(back.status, back.text).toBe(201);
  expect(back.json).toMatchObject({ id: user.user_id, active: true, roles: [{ value: "investigator" }] });
});

test("nothing that a directory says about a person or a colleague stops it from disabling the person", async () => {
  const taken = newEmail();
  await directory.create(taken);
  const wrong: [string, object][] = [
    ["a userName of another person", { userName: taken }],
    ["no userName", {}],
    ["a long name", { userName: newEmail(), displayName: "a".repeat(300) }],
    ["no address", { userName: newEmail(), emails: [{ value: "nobody" }] }],
  ];
  for (const [what, more] of wrong) {
    const ids = [await directory.create(newEmail()), await directory.create(newEmail())];
    const [first, second] = await Promise.all(ids.map((id) => directory.read(id)));
    const put = await directory.ask("PUT", `/Users/${first?.id}`, { ...more, active: "False" });
    expect(put.json, what).toMatchObject({ id: first?.id, userName: first?.userName, active: false });
    const operations = Object.entries({ ...more, active: false }).map(([path, value]) => ({ op: "replace", path, value }));
    const patched = await directory.patch(`/Users/${second?.id}`, ...operations);
    expect(patched.json, what).toMatchObject({ id: second?.id, userName: second?.userName, active: false });
    expect(
      (await directory.patch(`/Users/${first?.id}`, ...operations.slice(0, -1), { op: "remove", path: "active" })).status,
    ).toBe(400);
  }
});

test.each(["PATCH", "DELETE"])(
  "a colleague with a person's address as userName does not stop %s from disabling the person",
  async (method) => {
    const all = await Directory.connect(await TestTenant.create(service.current), { adopts_people: true });
    const { user } = await invite(all.tenant, "lead");
    const colleague = await all.create(newEmail());
    await all.patch(`/Users/${colleague}`, { op: "replace", path: "userName", value: user.email });
    const path = `/Users/${user.user_id}`;
    const answer = method === "PATCH" ? await all.patch(path, off) : await all.ask("DELETE", path);
    expect(answer.status, answer.text).toBe(method === "PATCH" ? 200 : 204);
    const read = await all.tenant.call("GET", `/users/${user.user_id}`);
    expect(read.json.data).toMatchObject({ is_disabled: true });
  },
);
