import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { listPartitions, makePartition } from "../db/activities.ts";
import { isCluster } from "../db/citus/nodes.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import {
  countPages,
  deleteOld,
  deleteOldOf,
  dropDayTable,
  dropDistributedDay,
  findRetention,
  hasExpired,
  holdExpiry,
  listDayTables,
  listKeepers,
  sweepOfDay,
  sweeps,
  type Keeper,
  type Sweep,
} from "../db/retention.ts";
import { Worker } from "./worker.ts";

const restMs = 60 * 60 * 1000;
const faultMs = 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;
const daysAhead = 2;
// 8 MB. One step reads this much, and locks the old rows in it.
const windowPages = 1_000;
// The only swept table without tenants. In a cluster, it is not distributed.
const signInTable = "sign_in_attempts";

type ExpiryOptions = { database: Database; clock: { now: () => string }; log: Logger; retentionDays: number };
// `removed`: rows per table, and for activity the number of days. `isWhole`: nothing failed and nothing was left for later.
export type Expired = { removed: Record<string, number>; isWhole: boolean };
type Pass = ExpiryOptions & { signal: AbortSignal; today: string };
type Removal = Pass & { isDistributed: boolean };

// Creates the partitions of the coming days and removes expired data. If several processes run, only one does the removal.
// Retention is in whole days, so the tables are swept once a day.
export class Expiry extends Worker {
  readonly #options: ExpiryOptions;
  #sweptOn: string | null = null;

  constructor(options: ExpiryOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const expired = await this.pass().catch((error: unknown) => failed(this.#options.log, error, "the database"));
    return expired?.isWhole === false ? faultMs : restMs;
  }

  // Returns null if another process is doing the removal.
  async pass(): Promise<Expired | null> {
    const { signal } = this;
    const today = this.#options.clock.now().slice(0, 10);
    const pass: Pass = { ...this.#options, signal, today };
    // Every process does this, because without these partitions no activity can be stored.
    const isReady = await attempt(pass, "upcoming partitions", () => makePartitions(pass));
    const expired = await holdExpiry(pass.database, async (held) =>
      expire(held, { ...pass, isDistributed: await isCluster(pass.database) }, this.#sweptOn !== today),
    );
    if (!expired) return isReady ? null : { removed: {}, isWhole: false };
    if (expired.isWhole) this.#sweptOn = today;
    if (Object.keys(expired.removed).length > 0) pass.log.info({ removed: expired.removed }, "expired data was removed");
    return { ...expired, isWhole: expired.isWhole && isReady };
  }
}

function dayOf(today: string, offset: number): string {
  return new Date(Date.parse(today) + offset * dayMs).toISOString().slice(0, 10);
}

async function makePartitions({ database, today }: Pass): Promise<void> {
  const known = new Set(await listPartitions(database));
  for (let ahead = 0; ahead <= daysAhead; ahead++) {
    const day = dayOf(today, ahead);
    if (!known.has(day)) await database.transaction((tx) => makePartition(tx, day));
  }
}

async function expire(held: Queryable, pass: Removal, isSweeping: boolean): Promise<Expired> {
  const removed: Record<string, number> = {};
  const add = (name: string, count: number) => {
    if (count > 0) removed[name] = (removed[name] ?? 0) + count;
  };
  let isWhole = await attempt(pass, "activities", () => dropDays(held, pass, add));
  if (isSweeping) isWhole = (await attempt(pass, "activity of tenants", () => sweepDays(held, pass, add))) && isWhole;
  for (const sweep of isSweeping ? sweeps : []) {
    const isSwept = await attempt(pass, sweep.table, () => sweepTable(held, sweep, pass, add));
    isWhole &&= isSwept;
  }
  return { removed, isWhole: isWhole && !pass.signal.aborted };
}

type Add = (name: string, count: number) => void;

async function dropDays(held: Queryable, { signal, today, retentionDays, isDistributed }: Removal, add: Add): Promise<void> {
  // All tenants share a day's partition, so it is kept for the longest retention of any tenant.
  const { longest } = await findRetention(held, retentionDays);
  const since = dayOf(today, -longest);
  for (const table of await listDayTables(held)) {
    if (signal.aborted) return;
    // If the removal of a partition has begun, it is completed even if a tenant has extended its retention since.
    if (table.state === "attached" && table.day >= since) continue;
    await (isDistributed ? dropDistributedDay(held, table) : dropDayTable(held, table));
    add("activities", 1);
  }
}

// Deletes rows of tenants with a shorter retention from days that other tenants still keep.
async function sweepDays(held: Queryable, pass: Removal, add: Add): Promise<void> {
  const { shortest, longest } = await findRetention(held, pass.retentionDays);
  const [from, to] = [dayOf(pass.today, -longest), dayOf(pass.today, -shortest)];
  for (const table of await listDayTables(held)) {
    if (pass.signal.aborted) return;
    const isShared = table.state === "attached" && table.day >= from && table.day < to;
    if (!isShared || !(pass.isDistributed || (await hasExpired(held, table, pass)))) continue;
    await sweepTable(held, sweepOfDay(table), pass, (_name, count) => add("activities of tenants", count));
  }
}

async function sweepTable(held: Queryable, sweep: Sweep, pass: Removal, add: Add): Promise<void> {
  const { signal, today, retentionDays } = pass;
  if (pass.isDistributed && sweep.table !== signInTable) return sweepTenants(held, sweep, pass, add);
  const pages = await countPages(held, sweep.table);
  for (let from = 0; from < pages && !signal.aborted; from += windowPages) {
    const began = performance.now();
    add(sweep.table, await deleteOld(held, sweep, { today, retentionDays, window: { from, to: from + windowPages } }));
    // Pause as long as the step took, so that at most half of one connection's time is used, however large the table is.
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {});
  }
}

async function sweepTenants(held: Queryable, sweep: Sweep, pass: Pass, add: Add): Promise<void> {
  let fault: unknown;
  for (const keeper of await listKeepers(held)) {
    try {
      await sweepTenant(held, { sweep, keeper }, pass, add);
    } catch (error) {
      // The others' nodes may be up.
      fault = error;
    }
  }
  if (fault !== undefined) throw fault;
}

type Swept = { sweep: Sweep; keeper: Keeper };

async function sweepTenant(
  held: Queryable,
  { sweep, keeper }: Swept,
  { signal, today, retentionDays }: Pass,
  add: Add,
): Promise<void> {
  for (let isWhole = false; !isWhole && !signal.aborted;) {
    const began = performance.now();
    const done = await deleteOldOf(held, sweep, { keeper, today, retentionDays });
    add(sweep.table, done.gone);
    isWhole = done.isWhole;
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {});
  }
}

// A failure in one place must not prevent the work in the others.
async function attempt({ log }: Pass, place: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    return failed(log, error, place).isWhole;
  }
}

function failed(log: Logger, error: unknown, place: string): Expired {
  log.warn({ err: error, place }, "a part of the expiry run failed and will be retried");
  return { removed: {}, isWhole: false };
}
