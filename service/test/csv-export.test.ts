import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { csvListOf, taken } from "../src/api/http/csv-export.ts";
import { operations } from "../src/api/operations.ts";
import { unprepared } from "../src/db/postgres/sql.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { csvRecords } from "../src/domain/csv.ts";
import { scopes } from "../src/domain/scope.ts";
import { useWorld } from "./fault-world.ts";
import { draftOf } from "./faults.ts";
import { TestTenant, expectProblem, send, useOwnDatabase, useService } from "./harness.ts";

// Its own database, because a test ends a connection that it finds by its statement.
const service = useService({ databaseUrl: useOwnDatabase("csv_export") });
const shared = useWorld(service);
const csv = { accept: "text/csv" };

type File = { status: number; text: string; headers: Headers };

async function read(tenant: TestTenant, path: string, headers: Record<string, string> = csv): Promise<File> {
  const response = await fetch(`http://127.0.0.1:${service.current.port}/v2/${tenant.slug}${path}`, {
    headers: { authorization: `Bearer ${tenant.token}`, ...headers },
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function rows(tenant: TestTenant, path: string): Promise<string[][]> {
  const { status, text } = await read(tenant, path);
  expect(status, text).toBe(200);
  return csvRecords(text).map(({ fields }) => fields);
}

async function withAccounts(count: number): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const text = `insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
    select $1::uuid, 'account-' || lpad(n::text, 6, '0'), n % 2 = 0, false, false, now(), now() from generate_series(1, $2::int) as n`;
  await service.current.database.transaction((tx) => tx.query(unprepared(text, [tenant.tenantId, count])));
  return tenant;
}

test("GET cases 200 as CSV: the same rows and columns as the list, as filtered and sorted", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  await tenant.openCase("user-2");
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 });
  const [header, ...lines] = await rows(tenant, "/cases?sort=created_at");
  expect(header?.slice(0, 3)).toEqual(["case_id", "website_account_id", "end_user_is_blocked"]);
  const listed = await tenant.list("sort=created_at");
  const names = (header ?? []) as (keyof CaseListItem)[];
  expect(lines).toEqual(listed.map((each) => names.map((name) => String(each[name] ?? ""))));
  for (const each of listed) expect(names).toEqual(expect.arrayContaining(Object.keys(each)));
  const closed = await rows(tenant, "/cases?status=CLOSED");
  expect(closed.slice(1).map(([id]) => id)).toEqual([opened.case_id]);
  const file = await read(tenant, "/cases?status=CLOSED");
  expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="[\w-]+-cases-\d{4}-\d\d-\d\d\.csv"$/);
  expect(file.text.endsWith("\r\n")).toBe(true);
});

test("CSV 200: has every row of a list of several pages, once; a limit is the number of rows", async () => {
  const tenant = await withAccounts(2_345);
  const lines = await rows(tenant, "/enduseraccounts");
  expect(lines).toHaveLength(2_346);
  expect(new Set(lines.map(([, id]) => id)).size).toBe(2_346);
  expect(await rows(tenant, "/enduseraccounts?is_blocked=true")).toHaveLength(1_173);
  for (const limit of [1, 999, 1_000]) expect(await rows(tenant, `/enduseraccounts?limit=${limit}`)).toHaveLength(limit + 1);
});

test("CSV 200: an empty list is a header", async () => {
  const tenant = await TestTenant.create(service.current);
  expect(await rows(tenant, "/cases")).toHaveLength(1);
});

const safe = (id: string) => (/^[=+\-@']/.test(id) ? `'${id}` : id);

test("CSV 200: a value that a spreadsheet would run begins with an apostrophe, and quotes and lines stay whole", async () => {
  const tenant = await TestTenant.create(service.current);
  const ids = ['=HYPERLINK("http://evil.example","x")', "+1", "-2+3", "@SUM(A1)", 'a"b', "a,b;c\nd", "'plain", " spaced "];
  for (const id of ids) await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id, crm_account_id: id } });
  const [header = [], ...lines] = await rows(tenant, "/enduseraccounts");
  const found = new Map(
    lines.map((line) => [line[header.indexOf("website_account_id")], line[header.indexOf("crm_account_id")]]),
  );
  expect(new Map(found)).toEqual(new Map(ids.map((id) => [safe(id), safe(id)])));
});

const pages = operations.filter((operation) => csvListOf(operation) !== null);

test.each(pages.map((operation) => [operation.id, operation] as const))("CSV 200: %s", async (_id, operation) => {
  const world = shared.current;
  const draft = draftOf(operation, world);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => draft.params[name] ?? "");
  const { status, text, headers } = await read(world.tenant, path);
  expect(status, text).toBe(200);
  expect(headers.get("content-type")).toContain("text/csv");
  const list = csvListOf(operation);
  expect(csvRecords(text)[0]?.fields).toEqual(list?.columns);
  const { data }: { data: Record<string, unknown[]> } = (await world.tenant.call("GET", path)).json;
  expect(csvRecords(text)).toHaveLength((data[list?.name ?? ""]?.length ?? 0) + 1);
});

test("CSV: without a preference for it, and for what is no list, the response is JSON", async () => {
  const { tenant, caseId } = shared.current;
  const accepts = [
    "*/*",
    "text/*",
    "application/json, text/csv",
    "text/csv;q=0",
    "text/csv;q=0.5, application/json",
    'a/b;c="text/csv"',
  ];
  for (const accept of accepts)
    expect((await read(tenant, "/cases", { accept })).headers.get("content-type"), accept).toBe("application/json");
  expect((await read(tenant, "/cases", { accept: "TEXT/CSV, application/json;q=0.9" })).headers.get("content-type")).toContain(
    "text/csv",
  );
  expect((await read(tenant, `/cases/${caseId}`)).headers.get("content-type")).toBe("application/json");
});

test("CSV 400, 401, 403, 404: a fault is a problem, as without CSV", async () => {
  const { tenant } = shared.current;
  const ask = (path: string, token: string | null) =>
    send(service.current.port, "GET", `/v2/${tenant.slug}${path}`, { token, headers: csv });
  expectProblem(await ask("/cases?status=NONE", tenant.token), 400, "bad-request");
  expectProblem(await ask("/cases?cursor=none", tenant.token), 400, "bad-request");
  expectProblem(await ask("/cases", null), 401, "unauthorized");
  const token = await tenant.mint(scopes.filter((scope) => scope !== "read:cases"));
  expectProblem(await ask("/cases", token), 403, "access-denied");
  const absent = await ask(`/cases/${randomUUID()}/members`, tenant.token);
  expectProblem(absent, 404, "item-not-found");
  expect(absent.headers.get("content-type")).toBe("application/problem+json");
});

test("CSV: the tenant's log says who exported what, and names no account", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `account-${randomUUID()}`;
  await rows(tenant, `/cases?status=OPEN&min_score=3&website_account_id=${account}`);
  const events = await tenant.call("GET", "/events");
  expect(events.text).not.toContain(account);
  const { data }: { data: { events: { type: string }[] } } = events.json;
  const exported = data.events.find(({ type }) => type === "tenant.list_exported");
  expect(exported).toMatchObject({
    actor: tenant.clientId,
    resource: { type: "tenant", id: tenant.tenantId },
    data: { list: "listCases", filters: { status: "OPEN", min_score: 3, website_account_id: "(not recorded)" } },
  });
});

// Reads the beginning of the response and then waits.
async function begin(tenant: TestTenant, path: string) {
  const asked = request({
    port: service.current.port,
    path: `/v2/${tenant.slug}${path}`,
    headers: { authorization: `Bearer ${tenant.token}`, ...csv },
  });
  asked.end();
  const [response] = await once(asked, "response");
  const pieces: Buffer[] = [];
  const finish = async () => {
    for await (const piece of response) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  };
  return { response, finish };
}

test("CSV: shows one moment, whatever changes while it is read", async () => {
  const tenant = await withAccounts(30_000);
  const { finish } = await begin(tenant, "/enduseraccounts");
  const { database } = service.current;
  await database.transaction((tx) =>
    tx.query(unprepared("update accounts set is_fraudulent = true where tenant_id = $1", [tenant.tenantId])),
  );
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "zz-new" } });
  const text = await finish();
  expect(text.match(/\r\n/g)).toHaveLength(30_001);
  expect(text).not.toContain("zz-new");
  expect(text).not.toContain("true,true");
  expect(text.split("\r\n").every((line) => line.split(",")[5] !== "true")).toBe(true);
});

test("CSV 429: a tenant has two exports at once, and one that is left makes room", async () => {
  const tenant = await withAccounts(60_000);
  const [one, two] = [await begin(tenant, "/enduseraccounts"), await begin(tenant, "/enduseraccounts")];
  const refused = await send(service.current.port, "GET", `/v2/${tenant.slug}/enduseraccounts`, {
    token: tenant.token,
    headers: csv,
  });
  expectProblem(refused, 429, "rate-limited");
  expect(refused.headers.get("retry-after")).toBe("10");
  one.response.destroy();
  await expect.poll(async () => (await read(tenant, "/enduseraccounts?limit=1")).status, { timeout: 20_000 }).toBe(200);
  two.response.destroy();
});

test("CSV: if the database is lost on the way, the response breaks off instead of ending as if it were whole", async () => {
  const tenant = await withAccounts(60_000);
  const { finish } = await begin(tenant, "/enduseraccounts");
  const { database } = service.current;
  // The export's connection, found by what it reads.
  const ended =
    "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and query like '%from accounts%' and datname = current_database()";
  await expect.poll(async () => (await database.query(unprepared(ended))).length, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect(finish()).rejects.toThrow(/aborted/);
});

test("CSV: a reader that takes a few bytes at a time is disconnected", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const [, to] = (await once(server, "request")) as [unknown, ServerResponse];
  expect(to.write("x".repeat(50_000_000))).toBe(false);
  const reading = setInterval(() => socket.read(1), 5);
  await taken(to, 100);
  clearInterval(reading);
  expect(to.destroyed).toBe(true);
  socket.destroy();
});
