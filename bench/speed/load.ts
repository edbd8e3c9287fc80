import { memoryPeakMb } from "./contender.ts";
import type { Drive } from "./drive.ts";
import { drive } from "./measure.ts";
import type { Context, Findings, Part } from "./part.ts";
import { standOf, type Stand } from "./stand.ts";
import { closeShots, listShots, mixedShots, readShots } from "./work.ts";

const scales = { quick: { seconds: 1, rounds: 1 }, full: { seconds: 3, rounds: 3 } };
const connections = 100;
const p99MaxMs = 25;
const memoryMaxMb = 250;

type Work = { name: string; asked: (stand: Stand) => Pick<Drive, "shots" | "once" | "key"> };

const works: Work[] = [
  { name: "GET case", asked: (stand) => ({ shots: readShots(stand) }) },
  { name: "a page of 50", asked: (stand) => ({ shots: listShots(stand, 50) }) },
  { name: "close", asked: (stand) => ({ shots: closeShots(stand, stand.closable.length), once: true, key: true }) },
  { name: "mixed", asked: (stand) => ({ shots: mixedShots(stand, stand.closable.length), once: true, key: true }) },
];

const whole = (value: number) => Math.round(value).toLocaleString("en");

// The top is what 100 connections get that ask again at once. Then half of that, sent at a fixed rate whatever the answers do:
// what has to wait for a connection waits, and its wait counts.
async function run(context: Context): Promise<Findings> {
  const stand = await standOf(context);
  const { seconds, rounds } = scales[context.scale];
  const rows: string[][] = [];
  let worst = 0;
  for (const [each, { name, asked }] of works.entries()) {
    for (let round = 0; round < rounds; round++) {
      context.progress(each * rounds + round, works.length * rounds, `runs of ${name}, top and half of it`);
      await stand.reset();
      const top = await drive(context.driver, stand, stand.ours, { connections, seconds, ...asked(stand) });
      await stand.reset();
      const rate = top.perSecond / 2;
      const half = await drive(context.driver, stand, stand.ours, { connections, seconds, rate, ...asked(stand) });
      const times = [half.p50, half.p99, half.p999].map((ms) => ms.toPrecision(3));
      rows.push([name, whole(top.perSecond), whole(half.perSecond), ...times]);
      worst = Math.max(worst, half.p99);
    }
  }
  const memory = memoryPeakMb(stand.ours.pid);
  await stand.stop();
  return {
    targets: [
      {
        name: "p99 at 100 connections, at half of the top",
        wanted: `under ${p99MaxMs} ms`,
        measured: `${worst.toPrecision(3)} ms, the worst run of ${works.map(({ name }) => name).join(", ")}`,
        isReached: worst < p99MaxMs,
      },
      {
        name: "memory of the service, the most of all runs",
        wanted: `under ${memoryMaxMb} MB`,
        measured: `${memory.toFixed(0)} MB`,
        isReached: memory < memoryMaxMb,
      },
    ],
    tables: [
      {
        title: "100 connections, at half of the top",
        columns: ["work", "top, requests/s", "sent, requests/s", "p50 ms", "p99 ms", "p99.9 ms"],
        rows,
      },
    ],
  };
}

export const load: Part = { name: "load", title: "Latency and memory under load", run };
