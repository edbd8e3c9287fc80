import { randomInt, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { rawRequest } from "./raw.ts";
import { TestTenant, expectProblem, sendRaw, useService, type RawAnswer } from "./harness.ts";

const service = useService();

// Sent raw, because clients resolve dots and escape as they like.
function ask(tenant: TestTenant, method: string, path: string, body = ""): Promise<RawAnswer> {
  return sendRaw(service.current.port, rawRequest(tenant, { method, path, body, headers: [`Idempotency-Key: ${randomUUID()}`] }));
}

// Sends the path unchanged, without a prefix.
function askWhole(tenant: TestTenant, path: string): Promise<RawAnswer> {
  const request = rawRequest(tenant, { method: "GET", path: "/cases" }).toString("latin1");
  return sendRaw(service.current.port, Buffer.from(request.replace(`/v2/${tenant.slug}/cases`, path), "latin1"));
}

function everyByteEscaped(id: string): string {
  return [...Buffer.from(id)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

const fourBytes = (length: number) => String.fromCodePoint(...Array.from({ length }, () => randomInt(0x10000, 0x110000)));
const ordinary =
  "a/b a+b + 100% %2e %252e %00 a\\b .hidden a..b ... ..a ?x=1 #x & = ; : @ ~ ! $ ' ( ) * , [ ] { } | ^ ` \" < >".split(" ");
const words =
  "unknown Unknown null undefined true 0 -1 1e3 __proto__ constructor close cases \u00e9 e\u0301 \u65e5\u672c \u{1f600}".split(
    " ",
  );
const odd = [
  " ",
  "a b",
  " a",
  "a ",
  "\t",
  "\n",
  "\r\n",
  "\x01",
  "\x7f",
  "\ufeff",
  "\u202e",
  "\uffff",
  "UNKNOWN ",
  "x".repeat(512),
  fourBytes(512),
];

describe("account ids", () => {
  test.each([
    ["punctuation", ordinary],
    ["words and letters", words],
    ["white space, controls and lengths", odd],
  ])("POST, GET, PUT and DELETE account: %s are ids like any other, however they are escaped", async (_name, ids) => {
    const tenant = await TestTenant.create(service.current);
    const made = new Map<string, string>();
    for (const id of ids) {
      const answer = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
      expect(answer.status, `${id}: ${answer.text}`).toBe(201);
      expect(answer.json.data).toMatchObject({ website_account_id: id });
      made.set(id, answer.text);
    }
    for (const [id, text] of made) {
      for (const segment of [encodeURIComponent(id), everyByteEscaped(id)]) {
        expect((await ask(tenant, "GET", `/enduseraccounts/${segment}`)).text).toBe(text);
      }
      const path = `/enduseraccounts/${encodeURIComponent(id)}`;
      expect((await ask(tenant, "PUT", path, '{"is_blocked":true}')).text).toContain('"is_blocked":true');
      expect((await ask(tenant, "DELETE", path)).status).toBe(204);
      expectProblem(await ask(tenant, "GET", path), 404, "item-not-found");
    }
  });

  test("GET cases: an account whose id has 512 random four-byte characters gets its case", async () => {
    const tenant = await TestTenant.create(service.current);
    const id = fourBytes(512);
    const opened = await tenant.openCase(id);
    expect(opened).toMatchObject({ website_account_id: id, status: "OPEN" });
    expect((await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  });

  test("GET account: a plus is a plus, and ids that differ in letter case or normalization are different", async () => {
    const tenant = await TestTenant.create(service.current);
    const ids = ["a+b", "a b", "user", "User", "\u00e9", "e\u0301"];
    for (const id of ids) await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
    for (const id of ids) {
      const { text } = await ask(tenant, "GET", `/enduseraccounts/${encodeURIComponent(id).replaceAll("%2B", "+")}`);
      expect(JSON.parse(text)).toMatchObject({ data: { website_account_id: id } });
    }
  });
});

const operationsOnIds: [string, string, string, string][] = [
  ["GET case", "GET", "/cases/", ""],
  ["PUT case", "PUT", "/cases/", '{"status":"CLOSED","case_version":1}'],
  ["GET account", "GET", "/enduseraccounts/", ""],
  ["PUT account", "PUT", "/enduseraccounts/", '{"is_blocked":true}'],
  ["DELETE account", "DELETE", "/enduseraccounts/", ""],
];

const badEscapes =
  "%00 a%00b %00a % a% %4 %zz %4g %u0041 %c0%80 %c0%af %e0%80%af %f0%80%80%af %ed%a0%80 %ed%b0%80 %ed%a0%bd%ed%b8%80 %f4%90%80%80 %ff %80 %c3 %c3%28 %e2%82 a%c3 \xe9 \xc3\xa9 %2G%2F";

describe.each(operationsOnIds)("%s", (name, method, folder, body) => {
  test(`${name} 400: broken, overlong and surrogate escapes, U+0000 and unescaped bytes are rejected`, async () => {
    const tenant = await TestTenant.create(service.current);
    for (const id of badEscapes.split(" ")) {
      const request = rawRequest(tenant, { method, path: `${folder}${id}`, body, headers: [`Idempotency-Key: ${randomUUID()}`] });
      expect(expectProblem(await sendRaw(service.current.port, request), 400, "bad-request").detail).not.toContain(folder);
    }
  });

  test(`${name} 404: the detail contains the absent id, truncated to 100 characters`, async () => {
    const tenant = await TestTenant.create(service.current);
    const noun = folder === "/cases/" ? "Case" : "End-user account";
    const ids = [
      "absent",
      "a/b",
      "\u65e5\u672c",
      randomUUID(),
      "x".repeat(100),
      "x".repeat(101),
      fourBytes(300),
      "x".repeat(513),
      "x".repeat(8000),
    ];
    for (const id of ids) {
      const problem = expectProblem(await ask(tenant, method, `${folder}${encodeURIComponent(id)}`, body), 404, "item-not-found");
      expect(problem.detail).toBe(`${noun} not found: ${Array.from(id).slice(0, 100).join("")}`);
    }
  });

  test(`${name} 404: dots, backslashes and empty segments match nothing, in any spelling`, async () => {
    const tenant = await TestTenant.create(service.current);
    const nothing = [
      ".",
      "..",
      "%2e",
      "%2E",
      "%2e%2e",
      "%2E.",
      ".%2e",
      "%2E%2e",
      "a\\b",
      "\\",
      "..\\..",
      "a/b",
      "a/",
      "/a",
      "/",
      "../a",
      "%2e%2e/a",
    ];
    for (const id of nothing) {
      const problem = expectProblem(await ask(tenant, method, `${folder}${id}`, body), 404, "item-not-found");
      expect(problem.detail).toBe("There is nothing at this path.");
    }
  });
});

test("account 404: an id of 513 characters is not found by any operation, and rejected with 422 in a body", async () => {
  const tenant = await TestTenant.create(service.current);
  const refused = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: fourBytes(513) } });
  expect(expectProblem(refused, 422, "validation-error").errors?.map((each) => each.field)).toEqual(["website_account_id"]);
  for (const id of ["", ".", "..", "UNKNOWN"]) {
    const answer = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
    expect(expectProblem(answer, 422, "validation-error").errors?.map((each) => each.field)).toEqual(["website_account_id"]);
  }
  expect((await tenant.call("GET", "/enduseraccounts")).text).toBe('{"data":{"end_user_accounts":[],"next_cursor":null}}');
});

test.each(operationsOnIds.slice(2))(
  "%s 404: UNKNOWN is not an account, although a case may have it",
  async (_name, method, folder, body) => {
    const tenant = await TestTenant.create(service.current);
    await tenant.report(undefined, { device_id: "device" });
    await expect.poll(() => tenant.list("website_account_id=UNKNOWN"), { timeout: 15_000 }).toHaveLength(1);
    for (const segment of ["UNKNOWN", "%55NKNOWN", everyByteEscaped("UNKNOWN")]) {
      const problem = expectProblem(await ask(tenant, method, `${folder}${segment}`, body), 404, "item-not-found");
      expect(problem.detail).toBe("End-user account not found: UNKNOWN");
    }
  },
);

test("case 404: a case id must match exactly, and nothing changes", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase();
  const others = [
    id.toUpperCase(),
    `%7B${id}%7D`,
    id.replaceAll("-", ""),
    `%20${id}`,
    `${id}%0A`,
    `${id}%20`,
    `urn:uuid:${id}`,
    id.slice(0, -1),
  ];
  for (const other of others) {
    expectProblem(await ask(tenant, "GET", `/cases/${other}`), 404, "item-not-found");
    const put = await ask(tenant, "PUT", `/cases/${other}`, '{"status":"CLOSED","case_version":1}');
    expectProblem(put, 404, "item-not-found");
  }
  const cases = [{ case_id: id.toUpperCase(), case_version: 1 }];
  const closed = await tenant.call("POST", "/cases/close", { body: { cases }, key: randomUUID() });
  expect(closed.json.data).toEqual({ results: [{ case_id: id.toUpperCase(), status: 404, type: "item-not-found" }] });
  expect(await tenant.read(id)).toMatchObject({ status: "OPEN", case_version: 1 });
  // The same id with other escapes is the same id.
  expect((await ask(tenant, "GET", `/cases/${everyByteEscaped(id)}`)).status).toBe(200);
});

test("route 404: paths are compared exactly and never normalized, with or without a token", async () => {
  const tenant = await TestTenant.create(service.current);
  const own = `/v2/${tenant.slug}`;
  const below =
    "/ /Cases /CASES /cas%65s /cases/ //cases /cases// /./cases /../cases /cases/.. /%2e/cases /cases;a=1 /cases.json /cases%20 /cases%2F /cases%00 /cases%3F /cases#x \\cases /EndUserAccounts /enduseraccount /cases/close/x /tenants/ /nothing";
  const above =
    "/ // /v2 /v2/ /v2// /V2/x/cases /v1/x/cases /v2//cases /v2/./cases /v2/../cases /v2/%2e%2e/cases /v2/a\\b/cases /livez/ /LIVEZ /livez%00 //livez /v2/oauth/token/ /.well-known/ /%2e%2e/%2e%2e/etc/passwd";
  for (const path of [...below.split(" ").map((each) => `${own}${each}`), ...above.split(" "), own]) {
    const answer = await askWhole(tenant, path);
    expectProblem(answer, 404, "item-not-found");
    expect((await sendRaw(service.current.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)).text).toBe(answer.text);
  }
});

test("route 403: only the slug itself matches, decoded once", async () => {
  const tenant = await TestTenant.create(service.current);
  const { slug } = tenant;
  const others = [
    slug.toUpperCase(),
    `${slug}.`,
    `${slug}-`,
    `${slug}%20`,
    `%20${slug}`,
    `${slug}%00`,
    `${slug}%zz`,
    `${slug}%ff`,
    `${slug}%2F..`,
    `${slug};x`,
    `%2574${slug.slice(1)}`,
    slug.slice(0, -1),
    `${slug}${slug}`,
    "*",
    "null",
    "x",
    "oauth",
    "__proto__",
    "x".repeat(8000),
  ];
  const texts = new Set<string>();
  for (const other of others) {
    const answer = await askWhole(tenant, `/v2/${other}/cases`);
    expectProblem(answer, 403, "access-denied");
    texts.add(answer.text);
  }
  expect(texts.size).toBe(1);
  expect((await askWhole(tenant, `/v2/${everyByteEscaped(slug)}/cases`)).status).toBe(200);
});
