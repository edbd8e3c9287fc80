import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Aborted, CasehoundClient, ProblemError, TimedOut, WrongBaseAddress, type ClientOptions } from "../src/index.ts";

// Wrong, broken and malicious servers at the base address.
const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ownSecret = { clientId: "shop", clientSecret: "a-secret" };

function clientOf(baseUrl: string, more: Partial<ClientOptions> = {}): CasehoundClient {
  return new CasehoundClient({ baseUrl, tenant: "demo", credentials: { token: "a-token" }, ...more });
}

const change = { status: "CLOSED", case_version: 1 } as const;

test("client: a redirect carries neither the secret nor a change to another host", async () => {
  let visits = 0;
  const elsewhere = await serve((_request, response) => {
    visits++;
    response.end('{"access_token":"x","expires_in":3600,"data":{}}');
  });
  const baseUrl = await serve((request, response) =>
    response.writeHead(307, { location: `${elsewhere.replace("127.0.0.1", "localhost")}${request.url}` }).end(),
  );
  await expect(clientOf(baseUrl, { credentials: ownSecret }).getTenant()).rejects.toThrow(WrongBaseAddress);
  await expect(clientOf(baseUrl).updateCase("a-case", change)).rejects.toThrow("redirect");
  await expect(clientOf(baseUrl).follow().next()).rejects.toThrow("redirect");
  expect(visits).toBe(0);
});

test.each(["86400", "3000000", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"])(
  "client: a retry-after of %s is reported, and the client does not retry at once",
  async (retryAfter) => {
    let visits = 0;
    const baseUrl = await serve((_request, response) => {
      visits++;
      const problem = { type: "rate-limited", title: "", status: 429, detail: "too many", errors: null };
      response.writeHead(429, { "retry-after": retryAfter }).end(JSON.stringify(problem));
    });
    await expect(clientOf(baseUrl).getTenant()).rejects.toThrow(ProblemError);
    expect(visits).toBe(1);
  },
);

test("client: a signal and a time limit also apply while waiting for a token", async () => {
  const baseUrl = await serve(() => {});
  const hanging = clientOf(baseUrl, { credentials: ownSecret, attemptsMax: 1 });
  await expect(hanging.getTenant({ signal: AbortSignal.timeout(50) })).rejects.toThrow(Aborted);
  await expect(hanging.getTenant({ timeoutMs: 50 })).rejects.toThrow(TimedOut);
  const never = clientOf(baseUrl, { credentials: { token: () => new Promise<string>(() => {}) }, attemptsMax: 1 });
  await expect(never.getTenant({ timeoutMs: 50 })).rejects.toThrow(TimedOut);
});

test.each([".", ".."])("client: the id %s does not address another resource", async (id) => {
  let visits = 0;
  const baseUrl = await serve((_request, response) => {
    visits++;
    response.end('{"data":{}}');
  });
  await expect(clientOf(baseUrl).listEndUserAccountEvents(id)).rejects.toThrow(RangeError);
  await expect(clientOf(baseUrl).deleteEndUserAccount(id)).rejects.toThrow(RangeError);
  expect(() => clientOf(baseUrl, { tenant: id })).toThrow("slug");
  expect(visits).toBe(0);
});

test.each(["{}", "null", "[]", '"data"'])("client: %s is not accepted as a response of the service", async (body) => {
  const baseUrl = await serve((_request, response) => response.end(body));
  await expect(clientOf(baseUrl).getTenant()).rejects.toThrow(WrongBaseAddress);
});

test("client: an HTML page is not accepted as a stream", async () => {
  const baseUrl = await serve((_request, response) => response.setHeader("content-type", "text/html").end("<p>\n\n</p>"));
  await expect(clientOf(baseUrl).follow().next()).rejects.toThrow(WrongBaseAddress);
});

test.each([
  "http://shop:secret@crm.example",
  "https://crm.example/?a=b",
  "https://crm.example/#a",
  "http://a b",
  "ftp://crm.example",
])("client: %s is rejected as a base address", (baseUrl) => expect(() => clientOf(baseUrl)).toThrow("baseUrl must"));
