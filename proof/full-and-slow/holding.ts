import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../../service/test/launch.ts";

type ProcessReading = { heapBytes: number; descriptors: number; resources: Record<string, number> };
// What a service's process holds. Its connections are counted from outside: those to its database, and those whose client still
// has its end open. A connection whose client has gone does not count.
export type Holding = ProcessReading & { databaseConnections: number; clientConnections: number };

// The maximum for one service: ten writers, five that wait for locks, two readers, two listeners, and one each for expiry and
// backtests.
const databaseConnectionsMax = 21;
const heapGrowthMax = 10 * 1024 * 1024;
const heapShareMax = 0.25;
// Resources that come and go within a few turns of the event loop.
const passing = new Set(["Immediate", "FSReqCallback", "FSReqPromise", "TCPConnectWrap", "WriteWrap", "ShutdownWrap", "Timeout"]);

export async function readHolding(service: ServiceProcess, databaseConnections: number): Promise<Holding> {
  const read = () => [...service.stderr.matchAll(/^gauge: (.*)\n/gm)].map((match) => match[1] ?? "");
  const before = read().length;
  service.signal("SIGUSR2");
  for (;;) {
    const last = read().slice(before).at(-1);
    if (last !== undefined)
      return { ...(JSON.parse(last) as ProcessReading), databaseConnections, clientConnections: countClients(service.port) };
    await sleep(20);
  }
}

function countClients(port: number): number {
  const isEstablished = "01";
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = "", , state]) => local.endsWith(suffix) && state === isEstablished).length;
}

// Pools may grow to their limit but no further, and clients keep connections. So connections, and one timer for each, are
// subtracted from the rest.
export function leaksOf(before: Holding, after: Holding): string[] {
  const leaks: string[] = [];
  const expect = (what: string, now: number, limit: number) => {
    if (now > limit) leaks.push(`${what}: ${now}, but at most ${limit} is expected`);
  };
  const connections = (holding: Holding) => holding.databaseConnections + holding.clientConnections;
  const descriptors = (holding: Holding) => holding.descriptors - connections(holding);
  expect("connections to the database", after.databaseConnections, databaseConnectionsMax);
  expect("file descriptors without connections", descriptors(after), descriptors(before));
  for (const kind of new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])) {
    if (passing.has(kind)) continue;
    const apart = (holding: Holding) => (holding.resources[kind] ?? 0) - (kind === "TCPSocketWrap" ? connections(holding) : 0);
    expect(`handles ${kind}`, apart(after), apart(before));
  }
  const timers = (holding: Holding) => holding.resources["Timeout"] ?? 0;
  expect("timers", timers(after), timers(before) + databaseConnectionsMax + after.clientConnections);
  const grown = Math.max(heapGrowthMax, before.heapBytes * heapShareMax);
  expect("bytes on the heap", after.heapBytes, Math.round(before.heapBytes + grown));
  return leaks;
}
