import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Driver, type Drive, type Shot } from "./drive.ts";
import { Latencies } from "./latencies.ts";

let driver: Driver;
beforeAll(async () => {
  driver = await Driver.start();
});
afterAll(async () => {
  await driver.stop();
});

type Seen = { asked: IncomingMessage[]; drive: Omit<Drive, "shots"> };

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Seen> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume().once("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { asked, drive: { url: `http://127.0.0.1:${port}/base`, headers: { "x-of": "run" }, connections: 3, seconds: 0.3 } };
}

function sendText(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { "content-length": Buffer.byteLength(text) }).end(text);
}

const shotsOf = (count: number, body?: string): Shot[] =>
  Array.from({ length: count }, (_, each) => ({ method: body ? "PUT" : "GET", path: `/${each}`, ...(body && { body }) }));

test("driver: a run counts the server's responses, and sends every shot", async () => {
  const { asked, drive } = await listen((_request, response) => sendText(response, "good"));
  const driven = await driver.run({ ...drive, shots: shotsOf(10) });
  expect(driven).toMatchObject({ requests: asked.length, failed: 0 });
  expect(driven.perSecond).toBeCloseTo(driven.requests / driven.seconds);
  expect(driven.p999).toBeGreaterThanOrEqual(driven.p50);
  expect(new Set(asked.map(({ url }) => url)).size).toBe(10);
  expect(asked[0]?.url).toMatch(/^\/base\/\d$/);
  expect(asked[0]?.headers["x-of"]).toBe("run");
});

test("driver: with `once`, every shot is sent once, with its own key", async () => {
  const { asked, drive } = await listen((_request, response) => sendText(response, "good"));
  const driven = await driver.run({ ...drive, seconds: 30, shots: shotsOf(50, '{"ä":1}'), once: true, key: true });
  expect(driven.requests).toBe(50);
  expect(driven.seconds).toBeLessThan(30);
  expect(new Set(asked.map(({ url }) => url)).size).toBe(50);
  expect(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(50);
  expect(asked[0]?.headers["content-length"]).toBe("8");
});

test("driver: a response with another status counts as failed, with a description", async () => {
  const { drive } = await listen((request, response) => sendText(response, "", request.url === "/base/0" ? 503 : 200));
  const driven = await driver.run({ ...drive, shots: shotsOf(10), once: true });
  expect(driven).toMatchObject({ requests: 10, failed: 1 });
  expect(driver.failure).toMatch(/503 instead of 200/);
  const expected = shotsOf(1).map((shot) => ({ ...shot, expect: 503 }));
  expect((await driver.run({ ...drive, shots: expected, once: true })).failed).toBe(0);
});

test("driver: a response in pieces is read to its end", async () => {
  const pieces = ["HTTP/1.1 200 O", "K\r\ncontent-le", "ngth: 10\r\n\r", "\n01234", "56789"];
  const { asked, drive } = await listen((_request, response) => {
    const { socket } = response;
    pieces.forEach((piece, each) => setTimeout(() => socket?.write(piece), each * 5));
  });
  // Node's server assumes that it still owes a response, so a connection serves only one request.
  const driven = await driver.run({ ...drive, shots: shotsOf(3), once: true });
  expect(driven).toMatchObject({ requests: 3, failed: 0 });
  expect(asked.length).toBe(3);
  expect(driven.p50).toBeGreaterThan(15);
});

test("driver: a response of a megabyte is read to its end", async () => {
  const { drive } = await listen((_request, response) => sendText(response, "x".repeat(1_000_000)));
  expect(await driver.run({ ...drive, shots: shotsOf(9), once: true })).toMatchObject({ requests: 9, failed: 0 });
});

test("driver: a chunked response is rejected with a reason", async () => {
  const { drive } = await listen((_request, response) => void response.end("of unknown length"));
  const chunked = await listen((_request, response) => {
    response.write("of ");
    response.end("unknown length");
  });
  expect((await driver.run({ ...drive, shots: shotsOf(3), once: true })).failed).toBe(0);
  await expect(driver.run({ ...chunked.drive, shots: shotsOf(3) })).rejects.toThrow(/content-length/);
});

test("driver: a connection closed before the response is a failed request, and is reopened", async () => {
  const { drive } = await listen((request, response) =>
    request.url === "/base/0" ? void request.socket.destroy() : sendText(response, "good"),
  );
  const driven = await driver.run({ ...drive, shots: shotsOf(20), once: true });
  expect(driven).toMatchObject({ requests: 20, failed: 1 });
});

test("driver: with a rate, that many requests are sent, and a delayed one counts from its due time", async () => {
  const { asked, drive } = await listen((_request, response) => sendText(response, "good"));
  const driven = await driver.run({ ...drive, seconds: 0.5, rate: 400, shots: shotsOf(10) });
  expect(driven).toMatchObject({ requests: 200, failed: 0 });
  expect(asked.length).toBe(200);
  const slow = await listen((_request, response) => void setTimeout(() => sendText(response, "good"), 50));
  const waited = await driver.run({ ...slow.drive, connections: 1, seconds: 0.5, rate: 40, shots: shotsOf(10) });
  expect(waited.requests).toBe(20);
  expect(waited.p99).toBeGreaterThan(300);
});

test("driver: a run whose rate is too high ends some seconds late, and no request fails", async () => {
  const { drive } = await listen((_request, response) => void setTimeout(() => sendText(response, "good"), 100));
  const driven = await driver.run({ ...drive, connections: 1, seconds: 0.5, rate: 400, shots: shotsOf(10) });
  expect(driven.failed).toBe(0);
  expect(driven.requests).toBeGreaterThan(5);
  expect(driven.requests).toBeLessThan(200);
  expect(driven.perSecond).toBeLessThan(12);
}, 20_000);

test("driver: percentiles are accurate to one percent", () => {
  const latencies = new Latencies();
  for (let ms = 1; ms <= 1000; ms++) latencies.add(ms);
  for (const [share, exact] of [0.5, 0.99, 0.999].map((each) => [each, each * 1000] as const))
    expect(Math.abs(latencies.at(share) / exact - 1)).toBeLessThan(0.01);
});
