import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { defaultTemplates, templatesMax, type ReasonTemplates } from "../src/domain/reason-template.ts";
import { expectProblem, useService, TestTenant } from "./harness.ts";
import { eventsOf } from "./lists-lab.ts";

const service = useService();
const path = "/reason-templates";
const known = { name: "Known", text: "A known customer.", labels: ["Bot"], disposition: "FALSE_POSITIVE" };

const put = (tenant: TestTenant, templates: unknown, templates_version: unknown = 1, token?: string) =>
  tenant.call("PUT", path, { body: { templates, templates_version }, ...(token !== undefined && { token }) });

async function read(tenant: TestTenant): Promise<ReasonTemplates> {
  return (await tenant.call("GET", path)).json.data;
}

test("reason templates: a tenant begins with the defaults, replaces them under their version, and sees no other tenant's", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const first = await read(tenant);
  expect(first).toMatchObject({ templates: defaultTemplates, templates_version: 1, updated_by: "system" });
  const second = await put(tenant, [{ text: "Other.", name: "Other" }, known]);
  expect(second.json.data).toEqual({
    templates: [{ name: "Other", text: "Other." }, known],
    templates_version: 2,
    updated_by: tenant.clientId,
    updated_at: expect.any(String),
  });
  expect((await tenant.call("GET", path)).text).toBe(second.text);
  expect(await read(other)).toMatchObject({ templates_version: 1, templates: defaultTemplates });
  const events = (await eventsOf(tenant)).filter(({ type }) => type === "reason_templates.updated");
  expect(events).toMatchObject([{ resource: { version: 2 }, data: { entries: 2 }, actor: tenant.clientId }]);
  // Repeating it changes nothing.
  expect((await put(tenant, [{ name: "Other", text: "Other." }, known], 2)).text).toBe(second.text);
  expect((await put(tenant, [], 2)).json.data).toMatchObject({ templates: [], templates_version: 3 });
  const stale = expectProblem(await put(tenant, [known], 2), 409, "item-version-conflict");
  expect(stale["current_version"]).toBe(3);
  expect((await read(tenant)).templates).toEqual([]);
});

test("reason templates: of two changes at the same time, one wins", async () => {
  const tenant = await TestTenant.create(service.current);
  const answers = await Promise.all(["a", "b", "c"].map((name) => put(tenant, [{ name, text: name }])));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  expect((await read(tenant)).templates_version).toBe(2);
});

test("reason templates 403: who closes cases may read them; only the tenant's scope changes them", async () => {
  const tenant = await TestTenant.create(service.current);
  const weak = await tenant.mint(["read:case", "update:case", "manage:rules"]);
  expect((await tenant.call("GET", path, { token: weak })).status).toBe(200);
  expectProblem(await put(tenant, [], 1, weak), 403, "access-denied");
  expectProblem(await tenant.call("GET", path, { token: await tenant.mint(["read:cases"]) }), 403, "access-denied");
});

const bad: [unknown, string][] = [
  [[known, { ...known }], "templates[1].name"],
  [[{ ...known, labels: ["Bot", "Bot"] }], "templates[0].labels[1]"],
  [[{ ...known, labels: [] }], "templates[0].labels"],
  [[{ ...known, labels: ["Robot"] }], "templates[0].labels[0]"],
  [[{ ...known, name: "" }], "templates[0].name"],
  [[{ ...known, name: "x".repeat(61) }], "templates[0].name"],
  [[{ ...known, text: "x".repeat(1001) }], "templates[0].text"],
  [[{ ...known, text: "\0" }], "templates[0].text"],
  [[{ ...known, disposition: "FRAUD" }], "templates[0].disposition"],
  [[{ ...known, other: 1 }], "templates[0].other"],
  [[{ name: "Known" }], "templates[0].text"],
  [Array.from({ length: templatesMax + 1 }, (_, index) => ({ name: `${index}`, text: "x" })), "templates"],
  ["x", "templates"],
];

test("reason templates 422: bad ones are refused with their field, and nothing changes", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const [templates, field] of bad) {
    const { errors } = expectProblem(await put(tenant, templates), 422, "validation-error");
    expect(errors?.map((each) => each.field)).toEqual([field]);
  }
  for (const version of [undefined, "1", 0, null])
    expectProblem(
      await tenant.call("PUT", path, { body: { templates: [], templates_version: version } }),
      422,
      "validation-error",
    );
  expect((await read(tenant)).templates_version).toBe(1);
});

test("erasure: templates that quote the account's id get its pseudonym and a new version, and the others stay", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `ring-${randomUUID()}`;
  await tenant.openCase(account);
  await put(tenant, [known, { name: "Ring", text: `The same ring as ${account}.` }]);
  for (const id of [account, "Bot"]) {
    await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
    expect((await tenant.call("DELETE", `/enduseraccounts/${id}`)).status).toBe(204);
  }
  const left = await read(tenant);
  const text = expect.stringMatching(/^The same ring as erased-[0-9a-f-]{36}\.$/);
  expect(left).toMatchObject({ templates: [known, { name: "Ring", text }], templates_version: 3 });
});
