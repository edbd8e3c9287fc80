import { randomUUID } from "node:crypto";
import { METHODS } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { startService } from "../src/service.ts";
import { rawRequest, talk } from "./raw.ts";
import { TestTenant, expectProblem, send, sendRaw, testConfig, useService } from "./harness.ts";

const service = useService();

afterEach(async () => {
  expect((await send(service.current.port, "GET", "/livez")).text).toBe('{"status":"ok"}');
});

const host = "Host: localhost\r\n";
const chunked = `POST /livez HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
const withHeader = (line: string) => `GET /livez HTTP/1.1\r\n${host}${line}\r\n\r\n`;
const withLength = (lines: string) => `POST /livez HTTP/1.1\r\n${host}${lines}\r\n\r\nabcde`;

const broken: [string, string][] = [
  ["a single word", "GARBAGE\r\n\r\n"],
  ["only a method", "GET\r\n\r\n"],
  ["binary data", "\0\0\0\0\r\n\r\n"],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["the HTTP/2 preface's method without a version", "PRI /livez\r\n\r\n"],
  ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a fourth word in the request line", `GET /livez HTTP/1.1 more\r\n${host}\r\n`],
  ["a space in the path", `GET /li vez HTTP/1.1\r\n${host}\r\n`],
  ["a path without a slash", `GET livez HTTP/1.1\r\n${host}\r\n`],
  ["an unknown version", `GET /livez HTTP/9.9\r\n${host}\r\n`],
  ["another protocol", `GET /livez FTP/1.1\r\n${host}\r\n`],
  ["a method in lower case", `get /livez HTTP/1.1\r\n${host}\r\n`],
  ["an unknown method", `FETCH /livez HTTP/1.1\r\n${host}\r\n`],
  ["lines that end with only LF", "GET /livez HTTP/1.1\nHost: localhost\n\n"],
  ["a header without a colon", withHeader("Nonsense")],
  ["a header without a name", withHeader(": x")],
  ["a space in a header's name", withHeader("Bad Name: x")],
  ["a space before the colon", withHeader("X-Name : x")],
  ["U+0000 in a header", withHeader("X-Name: a\0b")],
  ["a control character in a header", withHeader("X-Name: a\x01b")],
  ["a bare CR in a header", withHeader("X-Name: a\rb")],
  ["a bare LF in a header", withHeader("X-Name: a\nX-Other: b")],
  ["a folded header", withHeader("X-Name: a\r\n b")],
  [
    "Content-Length with Transfer-Encoding",
    `POST /livez HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ["two different Content-Lengths", withLength("Content-Length: 5\r\nContent-Length: 6")],
  ["two equal Content-Lengths", withLength("Content-Length: 5\r\nContent-Length: 5")],
  ["a list of Content-Lengths", withLength("Content-Length: 5, 5")],
  ["a Content-Length with a sign", withLength("Content-Length: +5")],
  ["a negative Content-Length", withLength("Content-Length: -5")],
  ["a Content-Length in hex", withLength("Content-Length: 0x5")],
  ["an empty Content-Length", withLength("Content-Length:")],
  ["a Content-Length beyond 64 bits", withLength("Content-Length: 99999999999999999999")],
  ["a Transfer-Encoding that is not chunked", withLength("Transfer-Encoding: identity")],
  ["a Transfer-Encoding that does not end in chunked", withLength("Transfer-Encoding: chunked, gzip")],
  ["a Transfer-Encoding that resembles chunked", withLength("Transfer-Encoding: xchunked")],
  ["a Transfer-Encoding before chunked", withHeader("Transfer-Encoding: gzip, chunked")],
  ["a Transfer-Encoding in two lines", withHeader("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked")],
  ["a chunk size that is not a number", `${chunked}zz\r\nab\r\n0\r\n\r\n`],
  ["a negative chunk size", `${chunked}-1\r\nab\r\n0\r\n\r\n`],
  ["a chunk size with 0x", `${chunked}0x2\r\nab\r\n0\r\n\r\n`],
  ["a chunk size beyond 64 bits", `${chunked}fffffffffffffffff\r\nab\r\n0\r\n\r\n`],
  ["no Host in HTTP/1.1", "GET /livez HTTP/1.1\r\n\r\n"],
  ["two Host lines", "GET /livez HTTP/1.1\r\nHost: one.example\r\nHost: two.example\r\n\r\n"],
];

test.each(broken)("framing 400: rejects %s", async (_name, request) => {
  const { answers, isOpen } = await talk(service.current.port, Buffer.from(request, "latin1"));
  expect(answers).toHaveLength(1);
  if (answers[0]) expectProblem(answers[0], 400, "bad-request");
  expect(isOpen).toBe(false);
});

test.each([
  ["one long header", withHeader(`X-Name: ${"a".repeat(17 * 1024)}`)],
  ["many headers", withHeader("X-Name: aaaaaaaaaa\r\n".repeat(1024).trim())],
  ["a long path", `GET /${"a".repeat(17 * 1024)} HTTP/1.1\r\n${host}\r\n`],
])("framing 431: %s of more than 16 KiB", async (_name, request) => {
  const { answers, isOpen } = await talk(service.current.port, request);
  expect(answers).toHaveLength(1);
  if (answers[0]) expectProblem(answers[0], 431, "headers-too-large");
  expect(isOpen).toBe(false);
});

test("framing 400: chunk data longer than its size is rejected in the end, and the connection is closed", async () => {
  const { answers, isOpen } = await talk(service.current.port, `${chunked}2\r\nabc\r\n0\r\n\r\n`);
  for (const answer of answers) expect(JSON.parse(answer.text)).toMatchObject({ status: answer.status, errors: null });
  expect(answers.map((answer) => answer.status)).toEqual(expect.arrayContaining([400]));
  expect(isOpen).toBe(false);
});

test.each([
  ["HTTP/1.0 without Host", "GET /livez HTTP/1.0\r\n\r\n", false],
  ["HTTP/1.0 with keep-alive", "GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true],
  ["an absolute URL", `GET http://example.com/livez HTTP/1.1\r\n${host}\r\n`, true],
  ["empty lines before the request", `\r\n\r\nGET /livez HTTP/1.1\r\n${host}\r\n`, true],
  ["a header of 16,000 bytes", withHeader(`X-Name: ${"a".repeat(16_000)}`), true],
  ["Upgrade: websocket", withHeader("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"), true],
  ["Upgrade: h2c", withHeader("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk"), true],
  ["an unknown Expect", withHeader("Expect: the-unexpected"), true],
  ["Connection: close", withHeader("Connection: close"), false],
])("framing 200: %s is served as plain HTTP/1.1", async (_name, request, isOpen) => {
  const talked = await talk(service.current.port, request);
  expect(talked).toMatchObject({ isOpen, interim: 0, answers: [{ status: 200, text: '{"status":"ok"}' }] });
});

describe("methods", () => {
  const others = METHODS.filter((method) => !["GET", "HEAD", "CONNECT"].includes(method));

  test.each(others)("%s /livez 405: returns Allow, and the connection stays open", async (method) => {
    const { answers, isOpen } = await talk(service.current.port, `${method} /livez HTTP/1.1\r\n${host}\r\n`);
    expect(answers).toMatchObject([{ headers: { allow: "GET" } }]);
    if (answers[0]) expectProblem(answers[0], 405, "method-not-allowed");
    expect(isOpen).toBe(true);
  });

  test("HEAD 405: returns the headers of the problem without its body", async () => {
    const response = await fetch(`http://127.0.0.1:${service.current.port}/livez`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-type")]).toEqual([405, "application/problem+json"]);
    expect(await response.text()).toBe("");
  });

  test.each(["OPTIONS *", "CONNECT example.com:443", "GET http://example.com", "GET http://example.com?/livez"])(
    "%s 404: the target is not one of our paths",
    async (target) => {
      const answer = await sendRaw(service.current.port, `${target} HTTP/1.1\r\n${host}\r\n`);
      expect(expectProblem(answer, 404, "item-not-found").detail).toBe("There is nothing at this path.");
    },
  );
});

test.each([
  ["after broken framing", "GARBAGE\r\n\r\n"],
  ["after CONNECT", `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`],
  ["after CONNECT with tunneled bytes", `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n${"tunnelled ".repeat(100)}`],
])("framing: a connection closed %s is released, even if the client keeps its half open", async (_name, request) => {
  const own = await startService(testConfig());
  const socket = connect({ port: own.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.on("end", resolve).resume();
    socket.write(request);
  });
  let hasStopped = false;
  const stopping = own.stop().then(() => (hasStopped = true));
  try {
    await vi.waitFor(() => expect(hasStopped).toBe(true), { timeout: 5_000, interval: 50 });
  } finally {
    socket.destroy();
    // Do not await it if it hangs: the failure is already reported.
    if (hasStopped) await stopping;
  }
});

test.each([
  ["431", withHeader(`X-Name: ${"a".repeat(512 * 1024)}`)],
  ["400", `GARBAGE\r\n\r\n${"a".repeat(512 * 1024)}`],
])(
  "framing %s: a client that is still sending gets the response without a reset, which could discard the response",
  async (status, request) => {
    let text = "";
    const fault = await new Promise<Error | null>((resolve) => {
      const socket = connect(service.current.port, "127.0.0.1", () => socket.end(request));
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("error", resolve).on("close", () => resolve(null));
    });
    expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(text).toContain(`"status":${status},`);
    expect(fault).toBeNull();
  },
);

describe("pipelining", () => {
  test("each request is answered in order, whatever happens to the others", async () => {
    const tenant = await TestTenant.create(service.current);
    const requests = [
      rawRequest(tenant, { method: "GET", path: "/enduseraccounts" }),
      rawRequest(tenant, { path: "/enduseraccounts/absent", body: '{"is_blocked":true}' }),
      rawRequest(tenant, { path: "/cases/absent", body: "{}" }),
      Buffer.from(withHeader("X-Name: x")),
      rawRequest(tenant, { method: "POST", path: "/enduseraccounts", body: '{"website_account_id":"piped"}' }),
      rawRequest(tenant, { method: "GET", path: "/cases" }),
    ];
    const { answers, isOpen } = await talk(service.current.port, Buffer.concat(requests), requests.length);
    expect(answers.map((answer) => answer.status)).toEqual([200, 404, 428, 200, 201, 200]);
    for (const answer of answers) expect(() => JSON.parse(answer.text)).not.toThrow();
    expect(isOpen).toBe(true);
  });

  test("an applied change is reported as applied, even if broken bytes follow it", async () => {
    const tenant = await TestTenant.create(service.current);
    await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
    const request = rawRequest(tenant, { path: "/enduseraccounts/a", body: '{"is_blocked":true}' });
    const { answers, isOpen } = await talk(service.current.port, Buffer.concat([request, Buffer.from("GARBAGE\r\n\r\n")]), 2);
    expect(answers.map((answer) => answer.status)).toEqual([200, 400]);
    expect(answers[0]?.text).toContain('"is_blocked":true');
    expect(isOpen).toBe(false);
  });

  test.each([
    ["401", { headers: ["Authorization: Bearer again"] }, 401],
    ["404", { path: "/no/such/path" }, 404],
    ["405", { method: "PATCH" }, 405],
    ["415", { headers: ["Content-Encoding: gzip"] }, 415],
  ])("%s: the body of a rejected request is never parsed as a request", async (_name, given, status) => {
    const tenant = await TestTenant.create(service.current);
    const body = rawRequest(tenant, { method: "POST", path: "/enduseraccounts", body: '{"website_account_id":"smuggled"}' });
    const request = rawRequest(tenant, { path: "/enduseraccounts/a", body, ...given });
    const { answers, isOpen } = await talk(service.current.port, request);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    expect(isOpen).toBe(true);
    expect((await tenant.call("GET", "/enduseraccounts/smuggled")).status).toBe(404);
  });
});

async function createAccount() {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
  const put = (headers: string[], body = '{"is_blocked":true}') =>
    rawRequest(tenant, { path: "/enduseraccounts/a", headers, body });
  const read = async () => (await tenant.call("GET", "/enduseraccounts/a")).text;
  return { tenant, put, read, before: await read() };
}

describe("writes to an account", () => {
  test("PUT account 400: a body shorter than its Content-Length applies nothing", async () => {
    const { put, read, before } = await createAccount();
    const whole = put([]);
    for (const cut of [1, 5, '{"is_blocked":true}'.length]) {
      const { answers, isOpen } = await talk(service.current.port, whole.subarray(0, -cut), 1, "half-close");
      expect(answers).toHaveLength(1);
      if (answers[0]) expectProblem(answers[0], 400, "bad-request");
      expect(isOpen).toBe(false);
    }
    expect(await read()).toBe(before);
  });

  test("PUT account 400: truncated chunks and a client that disconnects apply nothing", async () => {
    const { put, read, before } = await createAccount();
    const start = put(["Transfer-Encoding: chunked"], '13\r\n{"is_blocked":true}\r\n');
    for (const rest of ["", "0", "0\r\n", "zz\r\n\r\n"]) {
      const { answers } = await talk(service.current.port, Buffer.concat([start, Buffer.from(rest)]), 1, "half-close");
      expect(answers).toHaveLength(1);
      if (answers[0]) expectProblem(answers[0], 400, "bad-request");
    }
    await new Promise<void>((resolve) => {
      const socket = connect(service.current.port, "127.0.0.1", () => socket.write(start, () => socket.resetAndDestroy()));
      socket.on("close", () => resolve()).on("error", () => {});
    });
    expect(await read()).toBe(before);
    expect((await sendRaw(service.current.port, Buffer.concat([start, Buffer.from("0\r\n\r\n")]))).status).toBe(200);
  });

  test.each([
    ["two Authorization lines", ["authorization: Bearer x"], 401, "unauthorized"],
    ["two Authorization lines, one of them empty", ["AUTHORIZATION:"], 401, "unauthorized"],
    ["two Content-Type lines", ["content-type: application/json"], 415, "unsupported-media-type"],
    ["two Content-Encoding lines", ["Content-Encoding: identity", "content-encoding: gzip"], 415, "unsupported-media-type"],
  ])("PUT account: %s are rejected, and nothing changes", async (_name, headers, status, type) => {
    const { put, read, before } = await createAccount();
    expectProblem(await sendRaw(service.current.port, put(headers)), status, type);
    expect(await read()).toBe(before);
  });

  test("PUT account 401: the same Authorization twice is rejected, and the challenge says that the token is invalid", async () => {
    const { tenant, put, read, before } = await createAccount();
    const answer = await sendRaw(service.current.port, put([`Authorization: Bearer ${tenant.token}`]));
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="casehound", error="invalid_token"');
    expect(await read()).toBe(before);
  });

  test("PUT account with Expect 100-continue: 100 Continue is sent if the request can succeed; otherwise it is rejected at once", async () => {
    const { put, read, before } = await createAccount();
    const refused = await talk(service.current.port, put(["Expect: 100-continue", "Authorization: Bearer x"]));
    expect(refused).toMatchObject({ interim: 0, answers: [{ status: 401 }] });
    const behind = Buffer.concat([put(["Expect: 100-continue", "Authorization: Bearer x"]), put([])]);
    expect(await talk(service.current.port, behind)).toMatchObject({ interim: 0, isOpen: false, answers: [{ status: 401 }] });
    expect(await read()).toBe(before);
    const done = await talk(service.current.port, put(["Expect: 100-Continue"]));
    expect(done).toMatchObject({ interim: 1, isOpen: true, answers: [{ status: 200 }] });
    expect(await read()).toContain('"is_blocked":true');
  });
});

test("PUT case 400: two Idempotency-Key lines are rejected, equal or not, and nothing changes", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const key = randomUUID();
  for (const other of [key, randomUUID(), ""]) {
    const headers = [`Idempotency-Key: ${key}`, `idempotency-key: ${other}`];
    const body = '{"status":"CLOSED","case_version":1}';
    const answer = await sendRaw(service.current.port, rawRequest(tenant, { path: `/cases/${case_id}`, headers, body }));
    expectProblem(answer, 400, "invalid-operation-id");
  }
  expect(await tenant.read(case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
});
