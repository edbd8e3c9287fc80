import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../service/test/launch.ts";
import { conclude, gatherCrew, startService, work, type Doors } from "./histories/mission.ts";
import { Recorder } from "./histories/recorder.ts";
import { Door } from "./histories/wire.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { CheckedOut, readRelease } from "./rolling/last-release.ts";
import { Sender } from "./rolling/sender.ts";
import { Stand } from "./stand.ts";

const callsWanted = { short: 1_000, full: 40_000 };
const pollMs = 20;
// The shares of the calls to the old processes alone, to both releases, and to the new processes alone. Calls during a replacement
// are not counted, because nobody knows how long it takes.
const shares = { before: 0.2, beside: 0.6, after: 0.2 };

// Upgrades one process as an operator does: the new one starts beside the old one, gets its traffic, and then the old one stops.
async function replace(stand: Stand, door: Door, old: ServiceProcess): Promise<ServiceProcess> {
  const fresh = await startService(stand);
  const { port } = door;
  door.port = fresh.port;
  while (door.underWay(port) > 0) await sleep(pollMs);
  const { code } = await old.stop();
  if (code !== 0) throw new Error(`a process of the last release ended with ${code}`);
  return fresh;
}

// Lines of the log that say that something went wrong inside a process.
function errorsOf(name: string, service: ServiceProcess): string[] {
  return service.log.flatMap((line) => (line["level"] === "error" ? [`${name} logged ${JSON.stringify(line)}`] : []));
}

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const release = new CheckedOut(readRelease());
  const stand = await Stand.empty();
  try {
    const setting = { stand, tenant: release.createTenant(stand.databaseUrl, "rolling") };
    const shop = { stand, tenant: release.createTenant(stand.databaseUrl, "shop") };
    const wanted = callsWanted[scale];
    const recorder = new Recorder(Number.POSITIVE_INFINITY);
    const mission = { recorder, random, scale };
    const first = await startService(stand, {}, release.command);
    const second = await startService(stand, {}, release.command);
    const doors: Doors = [new Door(first.port), new Door(second.port)];
    const crew = await gatherCrew(setting, doors, mission);
    const sender = await Sender.open(shop, doors);
    const calls = async (share: number) => {
      const until = recorder.calls.length + wanted * share;
      while (recorder.calls.length < until) await sleep(pollMs);
    };
    const upgrade = async () => {
      await calls(shares.before);
      const fresh = await replace(stand, doors[1], second);
      await calls(shares.beside);
      const other = await replace(stand, doors[0], first);
      await calls(shares.after);
      return [fresh, other];
    };
    const began = performance.now();
    const [services] = await Promise.all([
      // If it fails, the clients must stop too.
      upgrade().finally(() => recorder.end()),
      work(crew, recorder, progress, wanted),
      sender.run(() => recorder.isComplete),
    ]);
    const seconds = (performance.now() - began) / 1000;
    await Promise.all(services.map((service) => service.stop()));
    const { figures, violations } = await conclude(setting, crew, mission, seconds);
    const failed = [...recorder.outcomes].flatMap(([name, count]) =>
      / 5\d\d /.test(name) ? [`${count} responses: ${name}`] : [],
    );
    const logged = [
      ...[first, second].flatMap((service) => errorsOf("a process of the last release", service)),
      ...services.flatMap((service) => errorsOf("a new process", service)),
    ];
    return {
      figures: { "calls to both releases side by side": wanted * shares.beside, ...figures, ...sender.figures },
      violations: [...violations, ...failed, ...logged, ...(await sender.audit())],
    };
  } finally {
    await stand.close();
    release.remove();
  }
}

export const rolling: Part = {
  name: "rolling",
  title: "An upgrade without a pause",
  claim:
    "Two processes of the last release are replaced by processes of this one, one after the other, under load. The first new process upgrades the database while the old ones serve requests; then both releases answer requests and score activity side by side. No call fails, no process logs an error, every accepted activity is scored once, and the log of changes explains everything that the clients saw, as above.",
  run,
};
