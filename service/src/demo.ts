import type { Logger } from "pino";
import { Enrichment } from "./engine/enrichment.ts";
import { clientTokens, deliver } from "@casehound/simulator/courier";
import { demoTimeline } from "@casehound/simulator/demo";
import { networkDatabases } from "@casehound/simulator/mmdb";
import { Network } from "@casehound/simulator/network";

// The origin that the simulated shop's pages claim.
export const demoOrigin = "https://shop.example";
const lateMaxMs = 30_000;

type Target = { url: string; tenant: string; clientId: string; clientSecret: string; appKey: string };

// The simulated shop's own internet. It contains no real addresses.
export function demoEnrichment(nowMs: number): Enrichment {
  const { city, asn } = networkDatabases(new Network(), nowMs);
  return new Enrichment([city, asn]);
}

// A shop that sends a month of history and then continues live, over HTTP through the collector and the API like any other. Every
// start uses a different shop, because the ids of the previous one are already known. Returns a function that stops it.
export function startDemo({ url, tenant, clientId, clientSecret, appKey }: Target, log: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const target = { baseUrl: url, tenant, token: clientTokens({ baseUrl: url, clientId, clientSecret }) };
  const { signal } = stopping;
  const run = async () => {
    const startMs = Date.now();
    const demo = demoTimeline({ seed: `demo-${startMs}`, startMs, appKey, origin: demoOrigin });
    const history = await deliver(demo.backlog(), target, { signal });
    log.info({ ...history }, "the simulated shop has sent its history");
    const pace = { now: () => Date.now(), lateMaxMs };
    const { problem } = await deliver(demo.live(Date.now()), target, { signal, pace });
    if (problem !== undefined) log.warn({ problem }, "the simulated shop stopped");
  };
  const running = run().catch((error: unknown) => log.warn({ err: error }, "the simulated shop stopped"));
  return async () => {
    stopping.abort();
    await running;
  };
}
