import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { clientTokens, deliver } from "./courier.ts";
import type { BrowserRequest, Delivery, ServerBatch } from "./delivery.ts";

type Received = { path: string; headers: IncomingMessage["headers"]; body: string };
type Reply = { status: number; headers?: Record<string, string>; body?: string };

// A server that answers as the test says, and records its requests and the most it handled at once.
async function withServer<T>(
  answer: (got: Received, count: number) => Reply | Promise<Reply>,
  use: (baseUrl: string, log: { received: Received[]; most: number }) => Promise<T>,
): Promise<T> {
  const log = { received: [] as Received[], most: 0 };
  let underWay = 0;
  const reply = async (got: Received, count: number, response: ServerResponse): Promise<void> => {
    const { status, headers = {}, body = "{}" } = await answer(got, count);
    underWay--;
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => {
    log.most = Math.max(log.most, ++underWay);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const got = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
      const count = log.received.push(got);
      void reply(got, count, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has an address object and not a path.
  const { port } = server.address() as AddressInfo;
  try {
    return await use(`http://127.0.0.1:${port}`, log);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const headers = {
  "user-agent": "Browser/1",
  origin: "https://shop.example",
  "x-forwarded-for": "240.0.0.1",
  "accept-language": "de",
};
const request = (at_ms = 0): BrowserRequest => ({
  kind: "browser",
  at_ms,
  path: `/collect/key?n=${at_ms}`,
  headers,
  body: "[{}]",
  events: 1,
});
const activity = { activity_id: "a", type: "logout", occurred_at: "2026-11-15T00:00:00.000Z" };
const batch: ServerBatch = { kind: "server", at_ms: 0, activities: [activity] };
const truth = { kind: "truth", at_ms: 0, session: { kind: "genuine" } } as Delivery;
const token = (): Promise<string> => Promise.resolve("token");

test("courier: browser requests and server batches arrive unchanged, and the ground truth is not sent", async () => {
  await withServer(
    ({ path }) => ({ status: path.startsWith("/collect") ? 200 : 202 }),
    async (baseUrl, { received }) => {
      const tally = await deliver([request(), truth, batch], { baseUrl, tenant: "shop", token }, { inFlightMax: 1 });
      expect(tally).toEqual({ requests: 2, events: 2, retries: 0, refused: 0, dropped: 0 });
      expect(received).toMatchObject([
        { path: "/collect/key?n=0", headers, body: "[{}]" },
        {
          path: "/v2/shop/activities",
          headers: { authorization: "Bearer token" },
          body: JSON.stringify({ activities: [activity] }),
        },
      ]);
    },
  );
});

test("courier: 429 and 503 are retried until they succeed, and count once", async () => {
  await withServer(
    (_, count) => (count === 1 ? { status: 429, headers: { "retry-after": "0" } } : { status: count === 2 ? 503 : 200 }),
    async (baseUrl, { received }) => {
      const tally = await deliver([request()], { baseUrl, tenant: "shop", token });
      expect(tally).toEqual({ requests: 1, events: 1, retries: 2, refused: 0, dropped: 0 });
      expect(received).toHaveLength(3);
    },
  );
});

test("courier: a permanent rejection is not retried, and its problem is reported", async () => {
  await withServer(
    () => ({ status: 422, body: '{"type":"validation-error"}' }),
    async (baseUrl, { received }) => {
      const tally = await deliver([batch, batch], { baseUrl, tenant: "shop", token });
      expect(tally).toMatchObject({ requests: 0, retries: 0, refused: 2, problem: '422: {"type":"validation-error"}' });
      expect(received).toHaveLength(2);
    },
  );
});

test("courier: gives up on an unreachable service after the allowed attempts", async () => {
  const baseUrl = await withServer(
    () => ({ status: 200 }),
    (address) => Promise.resolve(address),
  );
  const tally = await deliver([request()], { baseUrl, tenant: "shop", token }, { attemptsMax: 2 });
  expect(tally).toMatchObject({ requests: 0, retries: 1, refused: 1 });
});

test("courier: never exceeds the allowed number of requests in flight", async () => {
  await withServer(
    () => new Promise((resolve) => setImmediate(() => resolve({ status: 200 }))),
    async (baseUrl, log) => {
      const tally = await deliver(
        Array.from({ length: 60 }, () => request()),
        { baseUrl, tenant: "shop", token },
        { inFlightMax: 3 },
      );
      expect(tally.requests).toBe(60);
      expect(log.most).toBeLessThanOrEqual(3);
    },
  );
});

test("courier: with a clock it waits for each delivery's time, and drops deliveries that are far too late", async () => {
  let nowMs = 100_000;
  await withServer(
    ({ path }) => {
      nowMs = Math.max(nowMs, Number(path.split("=")[1]));
      return { status: 200 };
    },
    async (baseUrl, { received }) => {
      const pace = { now: () => nowMs, lateMaxMs: 60_000 };
      const due = [request(39_999), request(40_000), request(99_000), request(100_005)];
      const tally = await deliver(due, { baseUrl, tenant: "shop", token }, { pace, inFlightMax: 1 });
      expect(tally).toMatchObject({ requests: 3, dropped: 1 });
      expect(received.map(({ path }) => path)).toEqual(["/collect/key?n=40000", "/collect/key?n=99000", "/collect/key?n=100005"]);
    },
  );
});

test("courier: stops on its signal, even while waiting", async () => {
  const stop = new AbortController();
  function* endless(): Generator<Delivery> {
    yield request(0);
    stop.abort();
    for (;;) yield request(1e15);
  }
  await withServer(
    () => ({ status: 200 }),
    async (baseUrl) => {
      const pace = { now: () => 0, lateMaxMs: 1000 };
      const tally = await deliver(endless(), { baseUrl, tenant: "shop", token }, { pace, signal: stop.signal });
      expect(tally.refused).toBe(0);
    },
  );
});

test("courier: a rejected token is renewed once, with the client's credentials", async () => {
  let minted = 0;
  await withServer(
    ({ path, headers: sent, body }) => {
      if (path === "/v2/oauth/token")
        return {
          status: 200,
          body: JSON.stringify({ access_token: `${new URLSearchParams(body).get("client_id")}-${++minted}` }),
        };
      return { status: sent.authorization === "Bearer me-2" ? 202 : 401 };
    },
    async (baseUrl) => {
      const tokens = clientTokens({ baseUrl, clientId: "me", clientSecret: "secret" });
      const tally = await deliver([batch], { baseUrl, tenant: "shop", token: tokens });
      expect(tally).toMatchObject({ requests: 1, retries: 1, refused: 0 });
      const again = await deliver([batch], { baseUrl, tenant: "shop", token: tokens });
      expect(again).toMatchObject({ requests: 1, retries: 0 });
      expect(minted).toBe(2);
    },
  );
});
