import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import type { SimilarCases } from "../src/domain/similar.ts";
import { expectProblem, useService, TestTenant } from "./harness.ts";

const service = useService();

async function similarTo(tenant: TestTenant, caseId: string): Promise<SimilarCases> {
  const answer = await tenant.call("GET", `/cases/${caseId}/similar`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function close(tenant: TestTenant, { case_id, case_version }: Case, disposition?: string): Promise<void> {
  const answer = await tenant.put(case_id, { status: "CLOSED", case_version, ...(disposition !== undefined && { disposition }) });
  expect(answer.status, answer.text).toBe(200);
}

test("similar cases: counts how the latest decided cases like this were closed, each account once, and says if they are too few", async () => {
  const tenant = await TestTenant.create(service.current);
  const asked = await tenant.openCase("asked");
  const none = { compared: 0, similar: 0, confirmed_frauds: 0, false_positives: 0, inconclusive: 0, is_enough: false, cases: [] };
  expect(await similarTo(tenant, asked.case_id)).toEqual(none);
  for (const account of ["a", "b", "c"]) await close(tenant, await tenant.openCase(account), "CONFIRMED_FRAUD");
  await close(tenant, await tenant.openCase("d"), "FALSE_POSITIVE");
  // Neither a case without an outcome nor an open one says anything.
  await close(tenant, await tenant.openCase("e"));
  await tenant.openCase("f");
  expect(await similarTo(tenant, asked.case_id)).toMatchObject({
    compared: 4,
    similar: 4,
    confirmed_frauds: 3,
    is_enough: false,
  });
  const again = await tenant.openCase("a");
  await close(tenant, again, "CONFIRMED_FRAUD");
  const last = await tenant.openCase("g");
  await close(tenant, last, "INCONCLUSIVE");
  await close(tenant, await tenant.openCase("h"), "CONFIRMED_FRAUD");
  const found = await similarTo(tenant, asked.case_id);
  // The second report about one account is not like a first one.
  expect(found).toMatchObject({
    compared: 6,
    similar: 5,
    confirmed_frauds: 3,
    false_positives: 1,
    inconclusive: 1,
    is_enough: true,
  });
  expect(found.cases.map((each) => each.website_account_id).toSorted()).toEqual(["b", "c", "d", "g", "h"]);
  expect(found.cases[0]).not.toHaveProperty("subject");
  expect(found.cases.find(({ case_id }) => case_id === last.case_id)).toMatchObject({
    disposition: "INCONCLUSIVE",
    decided_by: tenant.clientId,
    similarity: expect.any(Number),
  });
  // A closed case is compared with the others, not with itself.
  expect(await similarTo(tenant, last.case_id)).toMatchObject({ compared: 5, inconclusive: 0 });
  const { case_version } = await tenant.read(last.case_id);
  await tenant.put(last.case_id, { status: "OPEN", case_version });
  expect(await similarTo(tenant, asked.case_id)).toMatchObject({ compared: 5, is_enough: false });
});

test("similar cases: another label, another tenant and an erased account are not compared", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const asked = await tenant.openCase("asked");
  await tenant.report("robot", { attributes: { label: "Bot" } });
  await expect.poll(() => tenant.list("website_account_id=robot"), { timeout: 15_000 }).toHaveLength(1);
  const [robot] = await tenant.list("website_account_id=robot");
  await close(tenant, await tenant.read(robot?.case_id ?? ""), "CONFIRMED_FRAUD");
  await close(other, await other.openCase("theirs"), "CONFIRMED_FRAUD");
  expect((await similarTo(tenant, asked.case_id)).compared).toBe(0);
  await close(tenant, await tenant.openCase("ann"), "CONFIRMED_FRAUD");
  expect((await similarTo(tenant, asked.case_id)).compared).toBe(1);
  expect((await tenant.call("DELETE", "/enduseraccounts/ann")).status).toBe(204);
  const after = await tenant.call("GET", `/cases/${asked.case_id}/similar`);
  expect(after.json.data).toMatchObject({ compared: 0, cases: [] });
  expect(after.text).not.toContain("ann");
  expectProblem(await other.call("GET", `/cases/${asked.case_id}/similar`), 404, "item-not-found");
  expectProblem(await tenant.call("GET", `/cases/${randomUUID()}/similar`), 404, "item-not-found");
  const token = await tenant.mint(["read:case"]);
  expectProblem(await tenant.call("GET", `/cases/${asked.case_id}/similar`, { token }), 403, "access-denied");
});

test("similar cases: a case without an account says what it is about", async () => {
  const tenant = await TestTenant.create(service.current);
  await close(tenant, await tenant.openDeviceCase("kiosk"), "CONFIRMED_FRAUD");
  const asked = await tenant.openDeviceCase("asked");
  const { cases } = await similarTo(tenant, asked.case_id);
  expect(cases).toMatchObject([{ website_account_id: "UNKNOWN", subject: { kind: "device", id: "kiosk" } }]);
});
