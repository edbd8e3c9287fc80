import { randomBytes } from "node:crypto";
import { beforeAll, expect, test, vi } from "vitest";
import { operations } from "../src/api/operations.ts";
import { newDatabase, send, sendRaw, type Options } from "./harness.ts";
import { connectTo, type ServiceProcess } from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses } from "./process.ts";
import { credentials, startWatched } from "./watched.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();

let service: ServiceProcess;
let databaseUrl: string;
let caller: Caller;

beforeAll(async () => {
  databaseUrl = await newDatabase();
  service = await startWatched(processes.start, databaseUrl);
  caller = await Caller.signIn(service.port, credentials);
});

// Distinctive, and valid as an id, a key, a note or a word of a body.
const mark = `mark${randomBytes(8).toString("hex")}`;

// Calls every operation correctly, with the mark in every input.
async function callAll(): Promise<string[]> {
  const account = `${mark}-account`;
  const open = await caller.openCase(account);
  const key = `${mark}-key`;
  await caller.report(`${mark}-other`, { note: `${mark} note`, label: mark });
  const created = { website_account_id: `${mark}-new`, crm_account_id: `${mark}-crm`, is_blocked: true };
  const close = { status: "CLOSED", case_version: 1, reason: `${mark} reason` };
  const calls: [string, string, Options, number][] = [
    ["GET", `/cases?website_account_id=${account}&cursor=${mark}`, {}, 400],
    ["GET", `/cases?website_account_id=${account}`, {}, 200],
    ["GET", `/cases/${open.case_id}`, {}, 200],
    ["PUT", `/cases/${open.case_id}`, { body: close, key }, 200],
    ["PUT", `/cases/${open.case_id}`, { body: { ...close, case_version: 9 }, key }, 409],
    ["POST", "/cases/close", { body: { cases: [{ case_id: mark, case_version: 1 }], reason: mark }, key: `${key}-2` }, 200],
    ["POST", "/enduseraccounts", { body: created }, 201],
    ["POST", "/enduseraccounts", { body: created }, 409],
    ["GET", `/enduseraccounts?crm_account_id=${mark}-crm`, {}, 200],
    ["GET", `/enduseraccounts/${mark}-new`, {}, 200],
    ["PUT", `/enduseraccounts/${mark}-new`, { body: { crm_account_id: `${mark}-crm-2` } }, 200],
    ["PUT", `/enduseraccounts/${mark}-new`, { rawBody: `{"crm_account_id": ${mark}` }, 400],
    ["DELETE", `/enduseraccounts/${mark}-new`, {}, 204],
    ["GET", "/tenants", {}, 200],
    ["POST", "/tenants/rotate-auth-secret", {}, 200],
  ];
  const secrets: string[] = [];
  for (const [method, path, options, status] of calls) {
    const answer = await caller.call(method, path, options);
    expect({ path, status: answer.status }).toEqual({ path, status });
    const { client_secret } = (answer.status === 204 ? {} : (answer.json.data ?? {})) as { client_secret?: string };
    if (client_secret !== undefined) secrets.push(client_secret);
  }
  return secrets;
}

// Calls every operation in the table, including future ones, with the mark where it does not belong. Also requests paths that
// belong to no operation.
async function misuseAll(): Promise<void> {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  for (const { method, path } of operations) {
    const marked = path.replaceAll(/\{\w+\}/g, mark);
    const body = method === "GET" || method === "DELETE" ? {} : { body: { [mark]: mark } };
    await caller.call(method, `${marked}?limit=${mark}&${mark}=1`, { ...body, key: mark });
    await caller.call(method, marked, { ...body, token: `${mark}.${mark}.${mark}` });
  }
  await send(service.port, "POST", "/v2/oauth/token", {
    headers: form,
    rawBody: `grant_type=client_credentials&client_id=${mark}&client_secret=${mark}`,
  });
  await send(service.port, "POST", "/v2/oauth/token", {
    headers: { ...form, authorization: `Basic ${btoa(`${credentials.client_id}:${mark}`)}` },
    rawBody: `grant_type=${mark}`,
  });
  await send(service.port, "GET", `/v2/${mark}/cases?token=${mark}`, {
    headers: { "x-request-id": `${mark}!`, "user-agent": mark, referer: mark },
  });
  await send(service.port, mark.slice(0, 4).toUpperCase(), `/${mark}`);
  await sendRaw(service.port, `GET /livez HTTP/1.1\r\n${mark}\r\n\r\n`);
}

// PostgreSQL includes a row's values in the error when it rejects the row.
async function breakDatabase(): Promise<void> {
  const client = await connectTo({ connectionString: databaseUrl });
  await client.query(`alter table accounts add constraint broken check (crm_account_id not like '${mark}%') not valid`);
  await client.query(`alter table cases add constraint broken check (website_account_id not like '${mark}-late%') not valid`);
  const body = { website_account_id: `${mark}-500`, crm_account_id: `${mark}-500` };
  expect((await caller.call("POST", "/enduseraccounts", { body })).status).toBe(500);
  await caller.report(`${mark}-late`);
  await eventually(() =>
    expect(service.log).toContainEqual(expect.objectContaining({ level: "error", msg: expect.stringContaining("engine") })),
  );
  await client.query("alter table cases drop constraint broken");
  await eventually(async () => expect(await caller.findCase(`${mark}-late`)).toBeDefined());
  await client.end();
}

test("log: each line is one JSON object with the caller and the outcome, and nothing of what was sent", async () => {
  const secrets = await callAll();
  await misuseAll();
  await breakDatabase();
  expect(await service.stop()).toEqual(cleanExit);
  const requests = service.log.filter((line) => line["request_id"] !== undefined);
  for (const line of requests)
    expect(line).toMatchObject({ operation: expect.any(String), method: expect.any(String), status: expect.any(Number) });
  const closed = requests.filter((line) => line["operation"] === "updateCase" && line["status"] === 200);
  expect(closed).toEqual([
    expect.objectContaining({ level: "info", tenant: credentials.tenant, actor: credentials.client_id, method: "PUT" }),
  ]);
  expect(requests).toContainEqual(expect.objectContaining({ level: "error", operation: "createEndUserAccount", status: 500 }));
  const seen = operations.filter(
    ({ id }) => !requests.some((line) => line["operation"] === id && line["tenant"] === credentials.tenant),
  );
  expect(seen.map(({ id }) => id)).toEqual([]);
  const signature = caller.token.split(".")[2] ?? "";
  for (const hidden of [mark, signature, credentials.client_secret, ...secrets]) {
    expect(service.stderr.split("\n").filter((line) => line.includes(hidden))).toEqual([]);
    expect(service.stdout).not.toContain(hidden);
  }
});
