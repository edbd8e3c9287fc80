import type { Contender } from "./contender.ts";
import type { Shot } from "./drive.ts";
import { barsOf, compare, connectionCounts, countOnly, drive, ratioTarget, tableOf, type Cell, type Runner } from "./measure.ts";
import type { Context, Findings, Part } from "./part.ts";
import { pgbenchCloses, prepareCloses, tellClients } from "./pgbench.ts";
import type { Program } from "./pgbench-program.ts";
import { pgbenchOrNone } from "./reads.ts";
import { standOf, type Stand } from "./stand.ts";
import { accountPutShots, closeShots, mixedShots } from "./work.ts";

const scales = {
  quick: { rounds: 1, roundsAimed: 1, seconds: 1, warmSeconds: 1, closes: 700, closesAlone: 200 },
  full: { rounds: 3, roundsAimed: 5, seconds: 2, warmSeconds: 3, closes: 6_000, closesAlone: 600 },
};

const warmConnections = 16;

// A process that has just started is slow at work that it has not done often.
async function warm(context: Context, stand: Stand, shots: Shot[]): Promise<void> {
  const seconds = scales[context.scale].warmSeconds;
  for (const each of [stand.ours, stand.plain]) {
    context.progress(0, 1, `warm-up of ${each.name}`);
    await stand.reset();
    await drive(context.driver, stand, each, { connections: warmConnections, seconds, shots, once: true, key: true });
  }
}

type Closes = { context: Context; stand: Stand; connections: number; notes: Set<string> };

// Fast but wrong would be easy, so check that as many cases are closed as were acknowledged.
async function checkClosed({ stand }: Closes, wanted: number, who: string): Promise<void> {
  const closed = await stand.countClosed();
  if (closed !== wanted) throw new Error(`${who}: ${wanted} closes were acknowledged, but ${closed} cases are closed`);
}

function closer(of: Closes, contender: Contender, shots: Shot[]): Runner {
  const { context, stand, connections } = of;
  const { seconds } = scales[context.scale];
  return {
    name: contender.name,
    run: async () => {
      await stand.reset();
      const sample = await drive(context.driver, stand, contender, { connections, seconds, shots, once: true, key: true });
      if (shots.every(({ method }) => method === "PUT")) await checkClosed(of, sample.requests, contender.name);
      return sample;
    },
  };
}

function pgbenchCloser(of: Closes, program: Program, closes: number): Runner {
  return {
    name: "pgbench",
    run: async () => {
      await of.stand.reset();
      const done = await pgbenchCloses(of.stand, program, { connections: of.connections, closes });
      await checkClosed(of, done.transactions, "pgbench");
      const told = tellClients(done, of.connections);
      if (told !== null) of.notes.add(told);
      return countOnly(done.transactions, done.perSecond);
    },
  };
}

type Closing = { stand: Stand; program: Program | null; notes: Set<string> };

async function measureCloses(context: Context, { stand, program, notes }: Closing): Promise<Cell[]> {
  const { roundsAimed: rounds, closes: many, closesAlone } = scales[context.scale];
  if (program) await prepareCloses(stand, stand.closable.slice(0, many), context.progress);
  await warm(context, stand, closeShots(stand, stand.closable.length));
  const cells: Cell[] = [];
  for (const connections of connectionCounts[context.scale]) {
    const closes = connections === 1 ? closesAlone : many;
    const of = { context, stand, connections, notes };
    const runners = [stand.ours, stand.plain].map((each) => closer(of, each, closeShots(stand, closes)));
    if (program) runners.push(pgbenchCloser(of, program, closes));
    cells.push(await compare(context, { work: "close", connections, runners, rounds }));
  }
  return cells;
}

async function measureMixed(context: Context, stand: Stand, notes: Set<string>): Promise<Cell[]> {
  const { rounds, closes } = scales[context.scale];
  const cells: Cell[] = [];
  for (const connections of connectionCounts[context.scale]) {
    const shots = mixedShots(stand, closes);
    const runners = [stand.ours, stand.plain].map((each) => closer({ context, stand, connections, notes }, each, shots));
    cells.push(await compare(context, { work: "mixed", connections, runners, rounds }));
  }
  return cells;
}

async function measurePuts(context: Context, stand: Stand): Promise<Cell[]> {
  const { rounds, seconds } = scales[context.scale];
  const cells: Cell[] = [];
  let runs = 0;
  await warm(context, stand, accountPutShots(stand, runs++));
  for (const connections of connectionCounts[context.scale]) {
    const runners = [stand.ours, stand.plain].map((each) => ({
      name: each.name,
      run: async () => {
        await stand.reset();
        return drive(context.driver, stand, each, { connections, seconds, shots: accountPutShots(stand, runs++) });
      },
    }));
    cells.push(await compare(context, { work: "PUT account", connections, runners, rounds }));
  }
  return cells;
}

const goals = { pgbench: { 1: 0.8, 16: 2, 100: 4.5 }, plain: { 100: 3 }, puts: { 16: 4, 100: 4 } };

async function run(context: Context): Promise<Findings> {
  const stand = await standOf(context);
  const notes = new Set<string>();
  const program = pgbenchOrNone(notes);
  const closes = await measureCloses(context, { stand, program, notes });
  const mixed = await measureMixed(context, stand, notes);
  const puts = await measurePuts(context, stand);
  await stand.reset();
  return {
    targets: [
      ratioTarget("close, compared with pgbench, one call per close", closes, { to: "pgbench", least: goals.pgbench }),
      ratioTarget("close, compared with the plain implementation", closes, { to: "plain", least: goals.plain }),
      ratioTarget("PUT account, compared with the plain implementation", puts, { to: "plain", least: goals.puts }),
    ],
    tables: [
      tableOf(
        "Close",
        closes,
        "pgbench closes each case with one call of a database function, which runs the service's own statements with values generated beforehand.",
      ),
      tableOf("Mixed: four reads for each close", mixed),
      tableOf("PUT account", puts),
    ],
    bars: [...barsOf("close", closes, goals), ...barsOf("mixed", mixed), ...barsOf("PUT account", puts, { plain: goals.puts })],
    notes: [...notes],
  };
}

export const writes: Part = { name: "writes", title: "Changes", run };
