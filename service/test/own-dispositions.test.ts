import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import { ownDispositionsMax, type OwnDispositions } from "../src/domain/own-disposition.ts";
import { expectProblem, useService, TestTenant } from "./harness.ts";
import { eventsOf } from "./lists-lab.ts";

const service = useService();
const path = "/dispositions";
const own = [
  { name: "Card testing", disposition: "CONFIRMED_FRAUD" },
  { name: "Family member", disposition: "FALSE_POSITIVE" },
] as const;

const put = (tenant: TestTenant, own_dispositions: unknown, dispositions_version = 1, token = tenant.token) =>
  tenant.call("PUT", path, { body: { own_dispositions, dispositions_version }, token });

async function setUp() {
  const tenant = await TestTenant.create(service.current);
  expect((await put(tenant, own)).status).toBe(200);
  return tenant;
}

test("own dispositions: none at first, replaced under their version, and of this tenant alone", async () => {
  const tenant = await setUp();
  const other = await TestTenant.create(service.current);
  const read = async (of: TestTenant): Promise<OwnDispositions> => (await of.call("GET", path)).json.data;
  expect(await read(tenant)).toMatchObject({ own_dispositions: own, dispositions_version: 2, updated_by: tenant.clientId });
  expect(await read(other)).toMatchObject({ own_dispositions: [], dispositions_version: 1, updated_by: "system" });
  expect((await put(tenant, own, 2)).json.data).toMatchObject({ dispositions_version: 2 });
  expectProblem(await put(tenant, [], 1), 409, "item-version-conflict");
  const token = await tenant.mint(["read:case", "update:case"]);
  expect((await tenant.call("GET", path, { token })).status).toBe(200);
  expectProblem(await put(tenant, [], 2, token), 403, "access-denied");
  const bad: [unknown, string][] = [
    [[own[0], { ...own[1], name: own[0].name }], "own_dispositions[1].name"],
    [[{ ...own[0], name: "" }], "own_dispositions[0].name"],
    [[{ ...own[0], disposition: "FRAUD" }], "own_dispositions[0].disposition"],
    [[{ ...own[0], color: "red" }], "own_dispositions[0].color"],
    [Array.from({ length: ownDispositionsMax + 1 }, (_, index) => ({ ...own[0], name: `${index}` })), "own_dispositions"],
  ];
  for (const [each, field] of bad) {
    const { errors } = expectProblem(await put(tenant, each, 2), 422, "validation-error");
    expect(errors?.map((error) => error.field)).toEqual([field]);
  }
  const changes = (await eventsOf(tenant)).filter(({ type }) => type === "dispositions.updated");
  expect(changes).toMatchObject([{ resource: { version: 2 }, data: { entries: 2 } }]);
});

test("PUT case: an own disposition sets the one that it counts as, and is in the state, the event, the digest and the filter", async () => {
  const tenant = await setUp();
  const { case_id, case_version } = await tenant.openCase("ann");
  const plain = await tenant.openCase("bob");
  await tenant.put(plain.case_id, { status: "CLOSED", case_version: plain.case_version, disposition: "CONFIRMED_FRAUD" });
  const key = randomUUID();
  const body = { status: "CLOSED", case_version, own_disposition: "Card testing" };
  const closed = await tenant.put(case_id, body, key);
  const outcome = { disposition: "CONFIRMED_FRAUD", own_disposition: "Card testing" };
  expect((closed.json.data as Case).current_state).toMatchObject(outcome);
  const logged = (await eventsOf(tenant)).filter(({ type, resource }) => type === "case.closed" && resource.id === case_id);
  expect(logged).toMatchObject([{ data: outcome }]);
  const ids = async (query: string) => (await tenant.list(query)).map((each) => each.case_id);
  expect(await ids("own_disposition=Card%20testing")).toEqual([case_id]);
  expect(await ids("own_disposition=Card%20testing&disposition=CONFIRMED_FRAUD&sort=-updated_at")).toEqual([case_id]);
  expect(await ids("own_disposition=card%20testing")).toEqual([]);
  expect(await ids("disposition=CONFIRMED_FRAUD")).toHaveLength(2);
  const digests = await tenant.call("GET", `/cases/digests?case_ids=${case_id}`);
  expect(digests.json.data).toMatchObject({ case_digests: [{ closed: outcome }] });
  // A repeat returns the first result, even if the disposition is gone. The case keeps it.
  await put(tenant, [], 2);
  expect((await tenant.put(case_id, body, key)).text).toBe(closed.text);
  expect((await tenant.read(case_id)).current_state).toMatchObject(outcome);
  const reopened = await tenant.put(case_id, { status: "OPEN", case_version: case_version + 1 });
  expect((reopened.json.data as Case).current_state).not.toHaveProperty("own_disposition");
  expect(await ids("own_disposition=Card%20testing")).toEqual([]);
});

test("PUT case 422: an unknown own disposition, one that counts as another, or one with OPEN; nothing is applied, the key stays free", async () => {
  const tenant = await setUp();
  const other = await TestTenant.create(service.current);
  const { case_id, case_version } = await tenant.openCase();
  const key = randomUUID();
  const close = { status: "CLOSED", case_version };
  for (const body of [
    { ...close, own_disposition: "Absent" },
    { ...close, own_disposition: "" },
    { ...close, own_disposition: "Family member", disposition: "CONFIRMED_FRAUD" },
    { status: "OPEN", case_version, own_disposition: "Card testing" },
  ]) {
    const { errors } = expectProblem(await tenant.put(case_id, body, key), 422, "validation-error");
    expect(errors?.map(({ field }) => field)).toEqual(["own_disposition"]);
  }
  expect((await tenant.read(case_id)).status).toBe("OPEN");
  const theirs = await other.openCase();
  const foreign = { status: "CLOSED", case_version: theirs.case_version, own_disposition: "Card testing" };
  expectProblem(await other.put(theirs.case_id, foreign), 422, "validation-error");
  expect((await tenant.put(case_id, { ...close, own_disposition: "Card testing" }, key)).status).toBe(200);
});

test("POST close: many cases are closed with an own disposition; an unknown one closes none", async () => {
  const tenant = await setUp();
  const cases = [await tenant.openCase(), await tenant.openCase()].map(({ case_id, case_version }) => ({
    case_id,
    case_version,
  }));
  const send = (own_disposition: string) =>
    tenant.call("POST", "/cases/close", { body: { cases, own_disposition }, key: randomUUID() });
  expectProblem(await send("Absent"), 422, "validation-error");
  expect(await tenant.list("status=OPEN")).toHaveLength(2);
  expect((await send("Family member")).status).toBe(200);
  for (const { case_id } of cases)
    expect((await tenant.read(case_id)).current_state).toMatchObject({
      disposition: "FALSE_POSITIVE",
      own_disposition: "Family member",
    });
});
