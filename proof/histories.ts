import type { ServiceProcess } from "../service/test/launch.ts";
import { conclude, gatherCrew, startService, work } from "./histories/mission.ts";
import { Recorder } from "./histories/recorder.ts";
import { Door } from "./histories/wire.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const callsWanted = { short: 2_000, full: 100_000 };

type Services = (stand: Stand) => Promise<[ServiceProcess, ServiceProcess]>;

async function run(proof: Proof, start: Services): Promise<Findings> {
  return tell(proof, { stand: await Stand.open(), start, calls: callsWanted[proof.scale] });
}

const startTwo: Services = (stand) => Promise.all([startService(stand), startService(stand)]);

// The same on a database that is there, with its tables.
export function runHistories(proof: Proof, { databaseUrl, calls }: { databaseUrl: string; calls: number }): Promise<Findings> {
  return tell(proof, { stand: Stand.on(databaseUrl), start: startTwo, calls });
}

type Told = { stand: Stand; start: Services; calls: number };

async function tell({ scale, random, progress }: Proof, { stand, start, calls }: Told): Promise<Findings> {
  try {
    const setting = { stand, tenant: await stand.tenant() };
    const mission = { recorder: new Recorder(calls), random, scale };
    const [first, second] = await start(stand);
    const services = [...new Set([first, second])];
    const crew = await gatherCrew(setting, [new Door(first.port), new Door(second.port)], mission);
    const began = performance.now();
    await work(crew, mission.recorder, progress, calls);
    const seconds = (performance.now() - began) / 1000;
    await Promise.all(services.map((service) => service.stop()));
    const { figures, violations } = await conclude(setting, crew, mission, seconds);
    return { figures: { "services on one database": services.length, ...figures }, violations };
  } finally {
    await stand.close();
  }
}

export const histories: Part = {
  name: "histories",
  title: "Histories of many clients",
  claim:
    "The clients of two services on one database read, close, reopen, close in bulk, report fraud and set flags on a few cases. Some calls are cut off and sent again under the same key. The log of changes, read one after the other, explains everything that the clients saw, in an order that agrees with real time: no version is lost, forked or skipped, no read is stale or ahead, a key is applied once, a replay has the bytes of the first response, and rejected changes were not applied.",
  run: (proof) => run(proof, startTwo),
};

// A client's two connections usually lead to two workers.
async function startWorkers(stand: Stand): Promise<[ServiceProcess, ServiceProcess]> {
  const service = await startService(stand, { WORKERS: "4" });
  return [service, service];
}

export const workerHistories: Part = {
  name: "workers",
  title: "Histories over four workers",
  claim: "What the histories show of two services is also true of one service with four workers and an engine on one port.",
  run: (proof) => run(proof, startWorkers),
};
