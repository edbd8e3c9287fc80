import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "@casehound/simulator/random";
import { freePort, type ServiceProcess } from "../../service/test/launch.ts";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { Ledger, audit } from "../writers/ledger.ts";
import { Writer, type Kind } from "../writers/writer.ts";

const preload = fileURLToPath(new URL("fail-points.ts", import.meta.url));
const main = join(preload, "../../../service/src/main.ts");
const pointsMax = 80;
const calmMs = 100;

// The engine's batches: one without a finding, one that opens a case, and one that adds to it.
const batches = { "engine, nothing found": "post", "engine, a case opened": "report", "engine, a case joined": "again" } as const;
const requests = ["close", "reopen", "bulk", "flag", "post", "collect"] as const;
export type PointKind = keyof typeof batches | (typeof requests)[number];
export const pointKinds: PointKind[] = [...requests, "engine, nothing found", "engine, a case opened", "engine, a case joined"];
export type PointFindings = { points: Map<PointKind, string[]>; scored: number; violations: string[] };

// Kills the service at the first point of each kind of write, then at the second, and so on, until the write succeeds. After each
// kill the service restarts, and the writer, which keeps sending the same key, must learn the one outcome.
export async function failAtEveryPoint(
  kinds: PointKind[],
  random: Random,
  onPoint: (name: string) => void,
): Promise<PointFindings> {
  const stand = await Stand.open();
  const port = await freePort();
  const start = () => stand.start({ PORT: String(port), LOG_LEVEL: "silent" }, [process.execPath, "--import", preload, main]);
  try {
    const tenant = await stand.tenant();
    const line = new ApiCaller(port, tenant);
    const ledger = new Ledger();
    let service = await start();
    await line.signIn();
    const writer = new Writer("writer", { line, ledger, random, appKey: tenant.app_key });
    await writer.begin();
    const trial: Trial = { writer, settled: Promise.resolve(), drain: () => stand.drained(tenant.tenant_id) };
    const points = new Map<PointKind, string[]>();
    for (const kind of kinds) {
      const names: string[] = [];
      points.set(kind, names);
      for (let at = 1; ; at++) {
        const isAlive = await fail(trial, service, kind, at);
        if (isAlive) break;
        const name = /fail point: (.*)/.exec(service.stderr)?.[1] ?? "unnamed";
        names.push(name);
        onPoint(`${kind}: ${name}`);
        if (at > pointsMax) throw new Error(`${kind} did not succeed within ${pointsMax} fail points`);
        service = await start();
        await trial.settled;
      }
      // Each kind changes something, so without a commit the fail points were in the wrong place.
      if (!names.includes("commit sent")) ledger.violate(`${kind} has no fail point at a commit`);
    }
    await stand.drained(tenant.tenant_id);
    const client = await stand.database.connect();
    const { scored } = await audit(ledger, client, tenant.tenant_id);
    await client.end();
    return { points, scored, violations: ledger.violations };
  } finally {
    await stand.close();
  }
}

type Trial = { writer: Writer; settled: Promise<void>; drain: () => Promise<void> };

function fail(trial: Trial, service: ServiceProcess, kind: PointKind, at: number): Promise<boolean> {
  const isBatch = (each: PointKind): each is keyof typeof batches => each in batches;
  return isBatch(kind) ? failEngine(trial, service, batches[kind], at) : failRequest(trial, service, kind, at);
}

// Whether the service survived. If it did not, the writer keeps retrying until it is back.
async function failRequest(trial: Trial, service: ServiceProcess, kind: Kind, at: number): Promise<boolean> {
  // A write right after another one may join its batch, and would then not reach its own fail points.
  await sleep(calmMs);
  trial.settled = trial.writer.step({ "x-fail-point": String(at) }, kind);
  const isDead = await Promise.race([service.exited.then(() => true), trial.settled.then(() => false)]);
  // The service may also die right after it sent the response.
  return !isDead && (await isLive(service));
}

async function failEngine(trial: Trial, service: ServiceProcess, kind: Kind, at: number): Promise<boolean> {
  // The batch may begin, and kill the service, before the response to its activity is sent. Then the writer sends the activity
  // again. The second post gets a batch of its own only after the first batch is complete, which shows that the service survived
  // all of it.
  const through = trial.writer
    .step({ "x-fail-engine": String(at) }, kind)
    .then(trial.drain)
    .then(() => trial.writer.step({}, "post"))
    .then(trial.drain);
  trial.settled = through;
  return Promise.race([service.exited.then(() => false), through.then(() => true)]);
}

async function isLive(service: ServiceProcess): Promise<boolean> {
  const isAnswered = await fetch(`http://127.0.0.1:${service.port}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isAnswered) await service.exited;
  return isAnswered;
}
