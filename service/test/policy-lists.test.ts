import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Assessment } from "../src/domain/assessment.ts";
import type { PolicyRow, PolicyTrial } from "../src/domain/policy.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";
import { makeList, readList } from "./lists-lab.ts";
import { eventually } from "./process.ts";

const service = useService();

function put(tenant: TestTenant, rows: PolicyRow[], policy_version = 1): Promise<Answer> {
  return tenant.call("PUT", "/policy", { body: { mode: "on", rows, policy_version } });
}

async function assess(tenant: TestTenant, account: string): Promise<Assessment> {
  const occurred_at = new Date().toISOString();
  const login = { activity_id: randomUUID(), type: "login_succeeded", occurred_at, website_account_id: account };
  const answer = await tenant.call("POST", "/assessments", { body: { ...login, deadline_ms: 2_000 } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

const watched = { name: "watched", type: "account", kind: "watch" } as const;
const row: PolicyRow = { lists: ["watched"], action: "CHALLENGE", set_quarantined: true };

test("policy: a row with a list decides only about activity that is on the list", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, watched, ["ann"]);
  expect((await put(tenant, [row])).status).toBe(200);
  // Each process applies changes of lists and policies within a second.
  await eventually(async () => expect(await assess(tenant, "ann")).toMatchObject({ action: "CHALLENGE", lists: ["watched"] }));
  expect(await assess(tenant, "bob")).toMatchObject({ action: "ALLOW", lists: [], score: 1 });
  const flags = async (account: string) => (await tenant.call("GET", `/enduseraccounts/${account}`)).json.data as object;
  expect(await flags("ann")).toMatchObject({ is_quarantined: true });
  expect(await flags("bob")).toMatchObject({ is_quarantined: false });
});

test("policy: a list shows that the policy uses it, and then cannot be deleted", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, watched);
  expect(await readList(tenant, "watched")).toMatchObject({ used_by: [], is_in_policy: false });
  expect((await put(tenant, [row])).status).toBe(200);
  expect(await readList(tenant, "watched")).toMatchObject({ used_by: [], is_in_policy: true });
  const problem = expectProblem(await tenant.call("DELETE", "/lists/watched"), 422, "validation-error");
  expect(problem.errors).toEqual([{ field: "list_name", message: "is used by the policy" }]);
  expect((await put(tenant, [], 2)).status).toBe(200);
  expect((await tenant.call("DELETE", "/lists/watched")).status).toBe(204);
});

test("policy: the name of a list that does not exist is a 422 that names the field, and nothing is stored", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, watched);
  const rows: PolicyRow[] = [row, { lists: ["watched", "nobody"], action: "BLOCK" }];
  const tried = await tenant.call("POST", "/policy/try-out", { body: { mode: "on", rows } });
  for (const answer of [await put(tenant, rows), tried]) {
    const problem = expectProblem(answer, 422, "validation-error");
    expect(problem.errors).toEqual([{ field: "rows[1].lists[1]", message: "is not the name of a list" }]);
  }
  expect((await tenant.call("GET", "/policy")).json.data).toMatchObject({ policy_version: 1 });
});

test("policy: if a list is deleted while a policy starts to use it, one of the two is refused", async () => {
  const tenant = await TestTenant.create(service.current);
  for (let version = 1, round = 0; round < 5; round++) {
    await makeList(tenant, watched);
    const [deleted, changed] = await Promise.all([tenant.call("DELETE", "/lists/watched"), put(tenant, [row], version)]);
    expect([
      [204, 422],
      [422, 200],
    ]).toContainEqual([deleted.status, changed.status]);
    if (changed.status !== 200) continue;
    version += 2;
    await put(tenant, [], version - 1);
    await tenant.call("DELETE", "/lists/watched");
  }
});

test("policy: the label of a block list counts in answers and in the try-out", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, { name: "stolen", type: "account", kind: "block", label: "Account Takeover" }, ["ann"]);
  const rows: PolicyRow[] = [{ labels: ["Account Takeover"], action: "CHALLENGE" }];
  expect((await put(tenant, rows)).status).toBe(200);
  await eventually(async () => expect(await assess(tenant, "ann")).toMatchObject({ action: "CHALLENGE", score: 5 }));
  const tried = await tenant.call("POST", "/policy/try-out", { body: { mode: "on", rows } });
  const { tried: outcome }: PolicyTrial = tried.json.data;
  const ofLogins = outcome.moments.find(({ moment }) => moment === "login");
  expect(ofLogins?.all.activities).toBeGreaterThan(0);
  expect(ofLogins?.challenged).toEqual(ofLogins?.all);
});

test("attack: whoever may only fill lists cannot add to one that the policy allows", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, watched);
  const token = await tenant.mint(["read:lists", "update:lists"]);
  const add = (path: string, body: object) => tenant.call("POST", `/lists/watched/${path}`, { body, token });
  const entries = { entries: [{ value: "thief" }] };
  const csv = { csv: "value\nthief\n" };
  expect((await add("entries", entries)).status).toBe(200);
  expect((await put(tenant, [{ lists: ["watched"], action: "ALLOW" }, row])).status).toBe(422);
  expect((await put(tenant, [{ lists: ["watched"], action: "ALLOW" }])).status).toBe(200);
  for (const answer of [await add("entries", entries), await add("csv", csv)])
    expect(expectProblem(answer, 403, "access-denied").detail).toContain("manage:lists");
  expect((await put(tenant, [row], 2)).status).toBe(200);
  expect((await add("csv", csv)).status).toBe(200);
});
