import { memoryPeakMb } from "./contender.ts";
import type { Drive } from "./drive.ts";
import { drive, spreadOf, type Sample } from "./measure.ts";
import type { Context, Findings, Part } from "./part.ts";
import { standOf, type Stand } from "./stand.ts";
import { closeShots, listShots, mixedShots, readShots } from "./work.ts";

const scales = { quick: { seconds: 1, rounds: 1 }, full: { seconds: 3, rounds: 3 } };
const connections = 100;
const memoryMaxMb = 220;

type Work = { name: string; p99MaxMs: number; asked: (stand: Stand) => Pick<Drive, "shots" | "once" | "key"> };

const works: Work[] = [
  { name: "GET case", p99MaxMs: 5, asked: (stand) => ({ shots: readShots(stand) }) },
  { name: "a page of 50", p99MaxMs: 5, asked: (stand) => ({ shots: listShots(stand, 50) }) },
  {
    name: "close",
    p99MaxMs: 15,
    asked: (stand) => ({ shots: closeShots(stand, stand.closable.length), once: true, key: true }),
  },
  {
    name: "mixed",
    p99MaxMs: 12,
    asked: (stand) => ({ shots: mixedShots(stand, stand.closable.length), once: true, key: true }),
  },
];

const whole = (value: number) => Math.round(value).toLocaleString("en");

type Halves = { work: string; tops: number[]; halves: Sample[] };

// The top is the throughput of 100 connections that send again at once. Then half of that is sent at a fixed rate, independent of
// the responses. A request that has to wait for a connection waits, and its wait counts.
async function measure(context: Context, stand: Stand, { name, asked }: Work): Promise<Halves> {
  const { seconds, rounds } = scales[context.scale];
  const found: Halves = { work: name, tops: [], halves: [] };
  for (let round = 0; round < rounds; round++) {
    context.progress(round, rounds, `runs of ${name}, at the maximum and at half of it`);
    await stand.reset();
    const top = await drive(context.driver, stand, stand.ours, { connections, seconds, ...asked(stand) });
    await stand.reset();
    const rate = top.perSecond / 2;
    found.tops.push(top.perSecond);
    found.halves.push(await drive(context.driver, stand, stand.ours, { connections, seconds, rate, ...asked(stand) }));
  }
  return found;
}

function rowOf({ work, tops, halves }: Halves): string[] {
  const of = (member: keyof Sample) => spreadOf(halves.map((half) => half[member]));
  const { least, most } = of("p99");
  const [p50, p99, p999] = (["p50", "p99", "p999"] as const).map((member) => of(member).median.toPrecision(3));
  const p99s = `${least.toPrecision(3)} to ${most.toPrecision(3)}`;
  return [work, whole(spreadOf(tops).median), whole(of("perSecond").median), p50 ?? "", p99 ?? "", p99s, p999 ?? ""];
}

async function run(context: Context): Promise<Findings> {
  const stand = await standOf(context);
  const found: Halves[] = [];
  for (const work of works) found.push(await measure(context, stand, work));
  const p99s = found.map(({ halves }) => spreadOf(halves.map(({ p99 }) => p99)).median);
  const memory = memoryPeakMb(stand.ours.pid);
  return {
    targets: [
      {
        name: "p99 at 100 connections, at half of the maximum throughput",
        wanted: works.map(({ name, p99MaxMs }) => `under ${p99MaxMs} ms ${name}`).join(", "),
        measured: found.map(({ work }, each) => `${p99s[each]?.toPrecision(3)} ms ${work}`).join(", "),
        isReached: works.every(({ p99MaxMs }, each) => (p99s[each] ?? Infinity) < p99MaxMs),
      },
      {
        name: "peak memory of the service over all runs",
        wanted: `under ${memoryMaxMb} MB`,
        measured: `${memory.toFixed(0)} MB`,
        isReached: memory < memoryMaxMb,
      },
    ],
    tables: [
      {
        title: "100 connections, at half of the maximum throughput",
        columns: ["work", "maximum, requests/s", "sent, requests/s", "p50 ms", "p99 ms", "min to max", "p99.9 ms"],
        rows: found.map(rowOf),
      },
    ],
  };
}

export const load: Part = { name: "load", title: "Latency and memory under load", run };
