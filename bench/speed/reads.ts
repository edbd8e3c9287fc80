import {
  compare,
  connectionCounts,
  countOnly,
  barsOf,
  drive,
  ratioTarget,
  tableOf,
  type Cell,
  type Runner,
  type Sample,
} from "./measure.ts";
import type { Shot } from "./drive.ts";
import type { Contender } from "./contender.ts";
import type { Context, Findings, Part } from "./part.ts";
import { pgbenchReads, tellClients } from "./pgbench.ts";
import { findPgbench, type Program } from "./pgbench-program.ts";
import { standOf, type Stand } from "./stand.ts";
import { accountShots, listShots, readShots } from "./work.ts";

// More rounds for work that has a target.
const scales = {
  quick: { rounds: 1, roundsAimed: 1, seconds: 0.5, warmSeconds: 0.5 },
  full: { rounds: 3, roundsAimed: 5, seconds: 2, warmSeconds: 2 },
};

type Work = {
  name: string;
  shots: Shot[];
  contenders: Contender[];
  program: Program | null;
  isAimed?: boolean;
  notes: Set<string>;
};

async function measure(context: Context, stand: Stand, work: Work): Promise<Cell[]> {
  const { seconds, warmSeconds, ...counts } = scales[context.scale];
  const { name, shots, contenders, program, isAimed = false } = work;
  const rounds = isAimed ? counts.roundsAimed : counts.rounds;
  for (const each of contenders) await drive(context.driver, stand, each, { connections: 16, seconds: warmSeconds, shots });
  const cells: Cell[] = [];
  for (const connections of connectionCounts[context.scale]) {
    const runners: Runner[] = contenders.map((each) => ({
      name: each.name,
      run: () => drive(context.driver, stand, each, { connections, seconds, shots }),
    }));
    if (program) runners.push({ name: "pgbench", run: () => pgbenchSample(stand, work, { connections, seconds }) });
    cells.push(await compare(context, { work: name, connections, runners, rounds }));
  }
  return cells;
}

async function pgbenchSample(
  stand: Stand,
  { program, notes }: Work,
  order: { connections: number; seconds: number },
): Promise<Sample> {
  if (!program) throw new Error("there is no pgbench");
  const done = await pgbenchReads(stand, program, order);
  const told = tellClients(done, order.connections);
  if (told !== null) notes.add(told);
  return countOnly(done.transactions, done.perSecond);
}

// If there is no pgbench, returns null and adds a note with the reason.
export function pgbenchOrNone(notes: Set<string>): Program | null {
  try {
    const program = findPgbench();
    notes.add(`${program.version}.`);
    return program;
  } catch (error) {
    notes.add(`Not measured against pgbench: ${error instanceof Error ? error.message : String(error)}.`);
    return null;
  }
}

const goals = {
  bare: { 1: 0.33, 16: 0.75, 100: 0.85 },
  plain: { 100: 5.5 },
  short: { 16: 5, 100: 5 },
  long: { 1: 4, 16: 4, 100: 4 },
};

async function run(context: Context): Promise<Findings> {
  const stand = await standOf(context);
  const { ours, bare, plain } = stand;
  const notes = new Set<string>();
  const program = pgbenchOrNone(notes);
  const both = [ours, plain];
  const gets = await measure(context, stand, {
    name: "GET case",
    shots: readShots(stand),
    contenders: [ours, bare, plain],
    program,
    isAimed: true,
    notes,
  });
  const accounts = await measure(context, stand, {
    name: "GET account",
    shots: accountShots(stand),
    contenders: both,
    program: null,
    notes,
  });
  const short = await measure(context, stand, {
    name: "a page of 50",
    shots: listShots(stand, 50),
    contenders: both,
    program: null,
    notes,
  });
  const long = await measure(context, stand, {
    name: "a page of 1,000",
    shots: listShots(stand),
    contenders: both,
    program: null,
    notes,
  });
  return {
    targets: [
      ratioTarget("GET case, compared with bare node:http, by connections", gets, { to: "bare", least: goals.bare }),
      ratioTarget("GET case, compared with the plain implementation", gets, { to: "plain", least: goals.plain }),
      ratioTarget("a page of 50, compared with the plain implementation", short, { to: "plain", least: goals.short }),
      ratioTarget("a page of 1,000, compared with the plain implementation", long, { to: "plain", least: goals.long }),
    ],
    tables: [
      tableOf("GET case", gets),
      tableOf("GET account", accounts),
      tableOf("First page of 50 cases", short),
      tableOf("First page of 1,000 cases", long),
    ],
    bars: [
      ...barsOf("GET case", gets, goals),
      ...barsOf("GET account", accounts),
      ...barsOf("list of 50", short, { plain: goals.short }),
      ...barsOf("list of 1,000", long, { plain: goals.long }),
    ],
    notes: [...notes],
  };
}

export const reads: Part = { name: "reads", title: "Reads", run };
