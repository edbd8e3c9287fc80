import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operations } from "../service/src/api/operations.ts";
import { TestTenant, send, useService } from "../service/test/harness.ts";
import { readCollection, type Request } from "./collection.ts";
import { collectionFiles } from "./collections.ts";

const service = useService();
const folder = join(import.meta.dirname, "../docs/collections");
const files = collectionFiles();

test("collections: match the OpenAPI document, with no extra files", () => {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const written = Object.fromEntries(found.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
  expect(written, "run `npm run generate`").toEqual(files);
});

test("collections: both have every operation, operations that need a key send one, and none targets the calling client", () => {
  const postman = files["casehound.postman.json"] ?? "";
  for (const { id, method, path, wantsKey } of operations) {
    const named = path.replaceAll(/\{(\w+)\}/g, "{{$1}}").replace("{{client_id}}", "{{other_client_id}}");
    const address = `{{base_url}}/v2/{{tenant}}${named}`;
    const [bru = ""] = Object.entries(files).flatMap(([name, text]) => (name.endsWith(`/${id}.bru`) ? [text] : []));
    expect(bru).toContain(`\n${method.toLowerCase()} {\n  url: ${address}\n`);
    expect(bru.includes("\n  Idempotency-Key: {{$guid}}\n"), id).toBe(wantsKey === true);
    expect(postman).toContain(JSON.stringify(address));
  }
});

// Sends the request as a client would: every variable is replaced, and nothing else is changed.
async function sendAs(
  tenant: TestTenant,
  { method, path, wantsKey, wantsToken, body, id }: Request,
  ids: Record<string, string>,
) {
  const values: Record<string, string> = { tenant: tenant.slug, ...ids };
  const address = path.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => values[name] ?? "none");
  return send(service.current.port, method, address, {
    ...(wantsToken && { token: tenant.token }),
    ...(wantsKey && { key: `collection-${id}` }),
    ...(body !== null && { rawBody: body, headers: { "content-type": "application/json" } }),
  });
}

test("collections: every request with a body is accepted as it is", async () => {
  const tenant = await TestTenant.create(service.current);
  const { clickstream_app_id: app_key }: { clickstream_app_id: string } = (await tenant.call("GET", "/tenants")).json.data;
  const all = readCollection().folders.flatMap(({ requests }) => requests);
  const withBody = all.filter(({ body }) => body !== null);
  expect(withBody.length).toBeGreaterThan(10);
  const refused: string[] = [];
  for (const request of withBody) {
    // Each gets its own case, because the bodies name version 1.
    const case_id = request.path.includes("{{case_id}}") ? (await tenant.openCase()).case_id : "none";
    const { status, text } = await sendAs(tenant, request, { case_id, app_key });
    // An object that does not exist cannot be changed.
    const isForPeople = request.id === "requestApproval" && status === 403;
    if (![200, 201, 202, 204, 404].includes(status) && !isForPeople) refused.push(`${request.id}: ${status} ${text}`);
  }
  expect(refused).toEqual([]);
});
