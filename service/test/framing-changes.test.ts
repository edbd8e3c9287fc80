import { expect, test } from "vitest";
import { TestTenant, expectProblem, sendRaw, useService } from "./harness.ts";
import { rawRequest, talk } from "./raw.ts";

const service = useService();

async function createAccount() {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
  const read = async () => (await tenant.call("GET", "/enduseraccounts/a")).text;
  return { tenant, read, before: await read() };
}

test.each([
  ["is shorter than its Content-Length", ["Content-Length: 5"], "abc"],
  ["has an invalid chunk size", ["Transfer-Encoding: chunked"], "zz\r\n\r\n"],
  ["ends before its last chunk", ["Transfer-Encoding: chunked"], "3\r\nabc\r\n"],
  ["is compressed and chunked", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"],
  ["is truncated, in an upgrade request", ["Content-Length: 5", "Upgrade: websocket", "Connection: Upgrade"], "abc"],
])("DELETE account 400: a body that %s deletes nothing, though no body is needed", async (_name, headers, body) => {
  const { tenant, read, before } = await createAccount();
  const head = `DELETE /v2/${tenant.slug}/enduseraccounts/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.token}\r\n`;
  const { answers, isOpen } = await talk(service.current.port, `${head}${headers.join("\r\n")}\r\n\r\n${body}`, 1, "half-close");
  expect(answers).toHaveLength(1);
  if (answers[0]) expectProblem(answers[0], 400, "bad-request");
  expect(isOpen).toBe(false);
  // If work continued after the response, it would finish before these later requests of the same kind.
  for (const other of ["b", "c", "d"]) {
    await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: other } });
    expect((await tenant.call("DELETE", `/enduseraccounts/${other}`)).status).toBe(204);
  }
  expect(await read()).toBe(before);
});

test("DELETE account 413: a body beyond every limit deletes nothing, though no body is needed", async () => {
  const { tenant, read, before } = await createAccount();
  const request = rawRequest(tenant, { method: "DELETE", path: "/enduseraccounts/a", body: "x".repeat(64 * 1024 + 1) });
  expectProblem(await sendRaw(service.current.port, request), 413, "payload-too-large");
  expect(await read()).toBe(before);
});

test("DELETE account 204: a complete body is ignored, and the connection stays open", async () => {
  const { tenant } = await createAccount();
  const request = rawRequest(tenant, { method: "DELETE", path: "/enduseraccounts/a", body: "not even JSON" });
  const { answers, isOpen } = await talk(service.current.port, request);
  expect(answers.map((answer) => answer.status)).toEqual([204]);
  expect(isOpen).toBe(true);
});

test("framing: a request pipelined behind a response that closes the connection is not executed, because nobody would see its result", async () => {
  const { tenant, read, before } = await createAccount();
  const { port } = service.current;
  const first = "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
  const second = rawRequest(tenant, { method: "DELETE", path: "/enduseraccounts/a" });
  for (let round = 0; round < 20; round++) {
    const { answers, isOpen } = await talk(port, first + second, 1, "half-close");
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(isOpen).toBe(false);
  }
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "b" } });
  expect((await tenant.call("DELETE", "/enduseraccounts/b")).status).toBe(204);
  expect(await read()).toBe(before);
});
