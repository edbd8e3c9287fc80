import { ConfigFault } from "../config.ts";
import type { WorkerCount } from "./worker-count.ts";

// For all workers that serve requests together, if PostgreSQL allows it.
const writersWanted = 24;
const writersOfOne = { least: 2, enough: 4, most: 10 };
// The connections of one pool that are not for writers: readers, and half as many again for transactions that wait for locks.
const readers = 2;
const listeners = 2;
const writersOfEngine = 10;
export const writersOfFirst = 2;
// Reserved for commands, exports, the embedded database's guard, and monitoring.
const spare = 10;

type Fit = { count: number; writersMax: number };

function connectionsOf(writers: number, lanes: number): number {
  return lanes * (writers + Math.ceil(writers / 2) + readers) + listeners;
}

// Divides the connections that PostgreSQL allows among the processes. Fewer connections for each worker come before fewer workers,
// and fewer workers only if their number is `auto`.
export function fitWorkers({ count, isAuto }: WorkerCount, limit: number, hasRowSecurity: boolean): Fit {
  const lanes = hasRowSecurity ? 2 : 1;
  const room = limit - spare - connectionsOf(writersOfEngine, lanes) - connectionsOf(writersOfFirst, lanes);
  const { least, enough, most } = writersOfOne;
  const fittingMost = Math.max(1, Math.floor(room / connectionsOf(least, lanes)));
  const fitting = isAuto ? Math.min(count, fittingMost) : count;
  let writersMax = Math.min(most, Math.max(enough, Math.floor(writersWanted / fitting)));
  while (writersMax > least && fitting * connectionsOf(writersMax, lanes) > room) writersMax--;
  const needed = fitting * connectionsOf(writersMax, lanes) + limit - room;
  if (needed > limit)
    throw new ConfigFault(
      `WORKERS: ${fitting} workers need ${needed} connections, but PostgreSQL allows ${limit}: raise max_connections, or use fewer workers`,
    );
  return { count: fitting, writersMax };
}
