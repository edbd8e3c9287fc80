import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { rawRequest } from "./raw.ts";
import { TestTenant, expectProblem, sendRaw, useService, type RawAnswer } from "./harness.ts";

const service = useService();

let tenant: TestTenant;
let caseId: string;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  caseId = (await tenant.openCase()).case_id;
});

// Opening a case that is already open succeeds and changes nothing, any number of times.
const body = '{"status":"OPEN","case_version":1}';

// Sent as latin1, so that each character is one byte.
function putWith(key: string): Promise<RawAnswer> {
  return sendRaw(
    service.current.port,
    rawRequest(tenant, { path: `/cases/${caseId}`, headers: [`Idempotency-Key: ${key}`], body }),
  );
}

const unchanged = { status: "OPEN", case_version: 1, updated_at: null };

const allowed = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:~+-");
const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
// HTTP itself does not allow these in a header value, so the HTTP parser rejects them first.
const isControl = (byte: string) => (byte < " " && byte !== "\t") || byte === "\x7f";

test("PUT case 200: an Idempotency-Key may contain letters, digits and . _ : ~ + -", async () => {
  const fresh = randomUUID();
  for (const byte of bytes.filter((each) => allowed.has(each))) {
    expect((await putWith(`${fresh}${byte}${fresh}`)).status, byte).toBe(200);
    expect((await putWith(`${byte}${byte.charCodeAt(0)}-${fresh}`)).status, byte).toBe(200);
  }
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("PUT case 400: an Idempotency-Key may contain no other byte", async () => {
  for (const byte of bytes.filter((each) => !allowed.has(each) && !isControl(each))) {
    expectProblem(await putWith(`abc${byte}def`), 400, "invalid-operation-id");
  }
  for (const byte of bytes.filter(isControl)) expectProblem(await putWith(`abc${byte}def`), 400, "bad-request");
  for (const text of ["\u00e9", "\u65e5\u672c", "\u{1f600}"].map((each) => Buffer.from(each).toString("latin1"))) {
    expectProblem(await putWith(text), 400, "invalid-operation-id");
  }
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("PUT case: an Idempotency-Key has 1 to 255 characters", async () => {
  for (const length of [1, 2, 254, 255]) expect((await putWith("k".repeat(length))).status, String(length)).toBe(200);
  for (const length of [0, 256, 257, 4096]) expectProblem(await putWith("k".repeat(length)), 400, "invalid-operation-id");
  for (const blank of [" ", "\t", "  \t "]) expectProblem(await putWith(blank), 400, "invalid-operation-id");
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("PUT case 200: surrounding white space is not part of a key, and letter case is", async () => {
  const key = `Key-${randomUUID()}`;
  expect((await putWith(key)).headers["idempotent-replayed"]).toBeUndefined();
  expect((await putWith(` ${key}\t `)).headers["idempotent-replayed"]).toBe("true");
  expect((await putWith(key.toUpperCase())).headers["idempotent-replayed"]).toBeUndefined();
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("PUT case 200: a UUID of any version is a valid key", async () => {
  const tail = randomUUID().slice(15);
  for (const version of "12345678") expect((await putWith(`01890a5d-ac96-${version}${tail}`)).status, version).toBe(200);
  for (const uuid of [
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    randomUUID().toUpperCase(),
  ]) {
    expect((await putWith(uuid)).status, uuid).toBe(200);
  }
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("POST close cases 400: its key has the same alphabet", async () => {
  const cases = `{"cases":[{"case_id":"${caseId}","case_version":1}]}`;
  for (const key of ["", "a b", "a/b", "k".repeat(256), "\xe9"]) {
    const headers = [`Idempotency-Key: ${key}`];
    const request = rawRequest(tenant, { method: "POST", path: "/cases/close", headers, body: cases });
    expectProblem(await sendRaw(service.current.port, request), 400, "invalid-operation-id");
  }
  expect(await tenant.read(caseId)).toMatchObject(unchanged);
});

test("GET case and PUT account 200: any Idempotency-Key is ignored", async () => {
  for (const key of ["", "a b", "k".repeat(300)]) {
    const headers = [`Idempotency-Key: ${key}`];
    const read = await sendRaw(service.current.port, rawRequest(tenant, { method: "GET", path: `/cases/${caseId}`, headers }));
    expect(read.status).toBe(200);
  }
  const { website_account_id: id } = await tenant.read(caseId);
  const key = randomUUID();
  for (const crm of ["one", "two"]) {
    const answer = await tenant.call("PUT", `/enduseraccounts/${id}`, { body: { crm_account_id: crm }, key });
    expect(answer.json.data).toMatchObject({ crm_account_id: crm });
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
});
