import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { send, useService } from "./harness.ts";
import { clock } from "../src/clock.ts";
import { createTenant } from "../src/tenancy.ts";
import { clientTokens, deliver, type CourierTarget } from "@casehound/simulator/courier";
import { demoTimeline } from "@casehound/simulator/demo";
import { eventsIn, type Delivery } from "@casehound/simulator/delivery";
import { networkDatabases } from "@casehound/simulator/mmdb";
import { Network } from "@casehound/simulator/network";

const folder = mkdtempSync(join(tmpdir(), "casehound-simulator-"));
const files = Object.entries(networkDatabases(new Network(), Date.UTC(2026, 10, 1))).map(([name, bytes]) => {
  const path = join(folder, `${name}.mmdb`);
  writeFileSync(path, bytes);
  return path;
});
const service = useService({ mmdbFiles: files });
afterAll(() => rmSync(folder, { recursive: true }));

const origin = "https://shop.example";
const watchedMs = 45_000;

function* upTo(deliveries: Iterable<Delivery>, untilMs: number): Generator<Delivery> {
  for (const delivery of deliveries) {
    if (delivery.at_ms > untilMs) return;
    yield delivery;
  }
}

test("simulator: the whole demo passes through the real collector and API, and its attacks become cases of every label", async () => {
  const { port, database } = service.current;
  const tenant = await createTenant(database, { slug: `t-${randomUUID()}`, allowedOrigins: [origin] }, clock);
  const baseUrl = `http://127.0.0.1:${port}`;
  const token = clientTokens({ baseUrl, clientId: tenant.client_id, clientSecret: tenant.client_secret });
  const target: CourierTarget = { baseUrl, tenant: tenant.tenant, token };
  const read = async (path: string): Promise<{ data: Record<string, unknown[]> }> => {
    const answer = await send(port, "GET", `/v2/${tenant.tenant}${path}`, { token: await token(false) });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  const startMs = Date.parse(clock.now()) - watchedMs;
  const demo = demoTimeline({ seed: "through", startMs, appKey: tenant.app_key, origin });
  const past = await deliver(demo.backlog(), target, { inFlightMax: 2 });
  expect(past).toMatchObject({ refused: 0, dropped: 0 });
  expect(past.events).toBeGreaterThan(4000);
  const live = [...upTo(demo.live(startMs), startMs + watchedMs)];
  const present = await deliver(live, target);
  expect(present).toMatchObject({ refused: 0, dropped: 0 });
  expect(present.events).toBe(live.reduce((sum, delivery) => sum + eventsIn(delivery), 0));
  expect((await read("/quarantine")).data["quarantine"]).toEqual([]);
  const labels = async (): Promise<Set<unknown>> => {
    const { data } = await read("/cases");
    return new Set(data["cases"]?.map((each) => (each as { primary_fraud_label: string }).primary_fraud_label));
  };
  await vi.waitFor(async () => expect(await labels()).toEqual(new Set(["Account Takeover", "Bot", "Synthetic", "Organic"])), {
    timeout: 25_000,
    interval: 200,
  });
}, 60_000);
