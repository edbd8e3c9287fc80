import { conclude, gatherCrew, startService, work } from "./histories/mission.ts";
import { Recorder } from "./histories/recorder.ts";
import { Door } from "./histories/wire.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const callsWanted = { short: 2_000, full: 100_000 };

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const stand = await Stand.open();
  try {
    const setting = { stand, tenant: await stand.tenant() };
    const mission = { recorder: new Recorder(callsWanted[scale]), random, scale };
    const services = await Promise.all([startService(stand), startService(stand)]);
    const crew = await gatherCrew(setting, [new Door(services[0].port), new Door(services[1].port)], mission);
    const began = performance.now();
    await work(crew, mission.recorder, progress, callsWanted[scale]);
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
  run,
};
