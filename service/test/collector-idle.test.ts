import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Site, browserEvent, useCollector } from "./site.ts";

const service = useCollector();

// Announces a body of 2 MiB, and sends one byte of it.
function announce({ key }: Site): void {
  const socket = connect(service.current.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST /collect/${key} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2097152\r\n\r\n[`);
  onTestFinished(() => void socket.destroy());
}

test("POST collect 200: bodies that are announced under one key and never sent leave room for other tenants", async () => {
  const [attacked, other] = [await Site.create(service.current), await Site.create(service.current)];
  const large = JSON.stringify(Array.from({ length: 300 }, () => browserEvent()));
  expect(large.length).toBeGreaterThan(64 * 1024);
  for (let n = 0; n < 16; n++) announce(attacked);
  await expect.poll(async () => (await attacked.collect(large)).status, { timeout: 10_000 }).toBe(503);
  await sleep(200);
  expect((await other.collect(large)).status).toBe(200);
  expect((await attacked.collect(JSON.stringify([browserEvent()]))).status).toBe(200);
});
