// Compares our HTTP layer with Fastify, with the same run.ts, handlers and statements: `node bench/fastify.ts [rounds]`.
import { fileURLToPath } from "node:url";
import { Progress } from "../service/src/cli/progress.ts";
import { migrate } from "../service/src/db/postgres/migrate.ts";
import { openBench, startProcess } from "./machine.ts";
import type { Contender } from "./speed/contender.ts";
import { Driver } from "./speed/drive.ts";
import { compare, connectionCounts, drive, tableOf, type Cell, type Runner } from "./speed/measure.ts";
import type { Context, Table } from "./speed/part.ts";
import { tableText, tellMachine } from "./speed/report.ts";
import { standOf, unlimited, type Stand } from "./speed/stand.ts";
import { freePort } from "./speed/store.ts";
import { closeShots, readShots } from "./speed/work.ts";

const rounds = Number(process.argv[2] ?? 7);
const seconds = 2;
const closesOf = (connections: number) => (connections === 1 ? 600 : 6_000);
const preload = fileURLToPath(new URL("fastify/preload.ts", import.meta.url));

// Both use the same public URL, so one token is valid for both.
async function startFastify({ bench, ours }: Stand): Promise<Contender> {
  const port = await freePort();
  const env = { ...unlimited, PORT: String(port), PUBLIC_URL: ours.url };
  const service = await startProcess(bench, env, ["--import", preload]);
  return { ...service, name: "fastify", url: `http://127.0.0.1:${port}` };
}

type Run = { context: Context; stand: Stand; contender: Contender; connections: number };

function read({ context, stand, contender, connections }: Run): Runner["run"] {
  return () => drive(context.driver, stand, contender, { connections, seconds, shots: readShots(stand) });
}

function close({ context, stand, contender, connections }: Run): Runner["run"] {
  const shots = closeShots(stand, closesOf(connections));
  return async () => {
    await stand.reset();
    const sample = await drive(context.driver, stand, contender, { connections, seconds, shots, once: true, key: true });
    const closed = await stand.countClosed();
    if (closed !== sample.requests)
      throw new Error(`${sample.requests} closes were acknowledged, but ${closed} cases are closed`);
    return sample;
  };
}

const works = [
  { name: "GET case", runOf: read },
  { name: "close", runOf: close },
];

async function measure(context: Context, stand: Stand): Promise<Table[]> {
  const contenders = [stand.ours, await startFastify(stand)];
  context.atEnd(async () => contenders[1]?.stop());
  const tables: Table[] = [];
  for (const { name, runOf } of works) {
    // Warm up first, because a process that has just started is slow at work that it has not done often.
    for (const contender of contenders)
      for (let run = 0; run < 2; run++) await runOf({ context, stand, contender, connections: 16 })();
    const cells: Cell[] = [];
    for (const connections of connectionCounts.full) {
      const runners = contenders.map((contender) => ({
        name: contender.name,
        run: runOf({ context, stand, contender, connections }),
      }));
      cells.push(await compare(context, { work: name, connections, runners, rounds }));
    }
    tables.push(tableOf(name, cells));
  }
  return tables;
}

const stops: (() => Promise<void>)[] = [];
const atEnd = (stop: () => Promise<void>) => void stops.unshift(stop);
const stopAll = async () => {
  for (const stop of stops.splice(0)) await stop();
};
// PostgreSQL does not receive the signal and would keep running.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stopAll().finally(() => process.exit(130)));
const line = new Progress();
const progress = (done: number, total: number, what: string) => line.show(() => `   ${done} of ${total} ${what}`);
try {
  const bench = await openBench("fastify");
  atEnd(bench.stop);
  await migrate(bench.database);
  const driver = await Driver.start();
  atEnd(() => driver.stop());
  const context: Context = { scale: "full", driver, bench, progress, atEnd };
  const tables = await measure(context, await standOf(context));
  line.clear();
  process.stdout.write(`${[...(await tellMachine(bench)), ...tables.map(tableText)].join("\n")}\n`);
} finally {
  await stopAll();
}
