import { makeList } from "./lists-lab.ts";
import type { TestTenant } from "./harness.ts";
import { below } from "./witness-people.ts";
import type { Sample } from "./witness.ts";

const value = "203.0.113.0/24";
const wrong = "203.0.113.7/24";

async function listPath(tenant: TestTenant): Promise<string> {
  await makeList(tenant, { name: "bad", type: "ip", kind: "block" }, [{ value, reason: "An attack" }, "2001:db8::1"]);
  return "/lists/bad";
}

// A request with a body below a list, and one whose body is wrong.
async function posted(tenant: TestTenant, last: string, good: unknown, bad: unknown): Promise<Sample[]> {
  const path = `${await listPath(tenant)}${last}`;
  const { length } = path.split("/");
  const valid = { path, options: { body: good }, status: 200 };
  const refused: Sample = { path, options: { body: bad }, status: 422, type: "validation-error" };
  if (length === 4) return [...below(path, { options: valid.options, status: 200 }), refused];
  const foreign = (name: string) => path.replace("/bad/", `/${name}/`);
  return [
    valid,
    refused,
    { ...valid, path: foreign("absent"), status: 404, type: "item-not-found" },
    { ...valid, path: foreign("%00"), status: 400, type: "bad-request" },
  ];
}

// The requests for lists and their entries.
export const listTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  listLists: async (tenant) => {
    await listPath(tenant);
    return [{ path: "/lists", status: 200 }];
  },
  createList: async () => {
    const body = { name: "vip", type: "account", kind: "allow", description: "Do not bother them" };
    return [
      { path: "/lists", options: { body }, status: 201 },
      { path: "/lists", options: { body }, status: 409, type: "item-already-exists" },
      { path: "/lists", options: { body: { ...body, type: "user_agent" } }, status: 422, type: "validation-error" },
    ];
  },
  getList: async (tenant) => [{ path: await listPath(tenant), status: 200 }],
  updateList: async (tenant) => [{ path: await listPath(tenant), options: { body: { kind: "watch" } }, status: 200 }],
  deleteList: async (tenant) => {
    await makeList(tenant, { name: "used", type: "ip", kind: "custom" });
    const rule = { name: "x", sentence: "x", label: "Bot", weight: 1, about: "account", state: "off", rule_version: 0 };
    await tenant.call("PUT", "/rules/uses_it", { body: { ...rule, expression: "lists.used.has(event.ip)" } });
    return [
      { path: await listPath(tenant), status: 204 },
      { path: "/lists/used", status: 422, type: "validation-error" },
    ];
  },
  listListEntries: async (tenant) => {
    const path = `${await listPath(tenant)}/entries`;
    return below(path, { status: 200 });
  },
  addListEntries: (tenant) =>
    posted(tenant, "/entries", { entries: [{ value, expires_at: "2099-01-01T00:00:00.000Z" }] }, { entries: [{ value: wrong }] }),
  removeListEntries: (tenant) => posted(tenant, "/entries/remove", { values: [value] }, { values: [] }),
  importList: (tenant) => posted(tenant, "/csv", { csv: `value\n${value}\n${wrong}\n` }, { csv: '"' }),
  exportList: async (tenant) => below(`${await listPath(tenant)}/csv`, { status: 200 }),
  previewListValues: (tenant) => posted(tenant, "/preview", { values: [value] }, { values: [wrong] }),
  listCaseValues: async (tenant) => {
    const { case_id } = await tenant.openCase();
    return below(`/cases/${case_id}/values`, { status: 200 });
  },
};
