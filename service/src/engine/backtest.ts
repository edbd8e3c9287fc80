import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { claimBacktest, saveEnding, saveProgress, type ClaimedBacktest, type Ending, type Lease } from "../db/backtests.ts";
import type { Database, Queryable, Row } from "../db/postgres/database.ts";
import { endOf, estimateDecisions, listSubjects, readDecisions, type Chunk, type HitRow } from "../db/decisions.ts";
import { countOutcomesOf } from "../db/outcomes.ts";
import { findDetection } from "../db/rules.ts";
import type { Statement } from "../db/postgres/sql.ts";
import { Tally } from "../detection/backtest.ts";
import { compileDraft, featuresOf, type Draft } from "../detection/draft.ts";
import { RuleFault } from "../detection/fault.ts";
import type { ListView } from "../detection/list-view.ts";
import { listedRow } from "../detection/listed-event.ts";
import type { Lists } from "../detection/lists.ts";
import { addressSubject, hitSubject } from "../domain/rule.ts";
import { daysOf, progressOf, type BacktestRequest, type ExampleKey, type StoredResult } from "../domain/backtest.ts";
import { blockOf } from "../domain/address.ts";
import { ListSets } from "./list-sets.ts";
import { Worker } from "./worker.ts";

const chunkMax = 2_000;
const lookedAtOnce = 16;
const sliceMs = 20;
const leaseSeconds = 30;
const begunMax = 3;
const idleMs = 500;
const faultMs = 1_000;

type BacktestOptions = { database: Database; clock: { now: () => string }; log: Logger };

// Runs queued backtests one at a time. Between two chunks of the log it yields to everything else in the process.
export class BacktestRunner extends Worker {
  readonly #options: BacktestOptions;

  constructor(options: BacktestOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const { database, log } = this.#options;
    try {
      const claimed = await claimBacktest(database, leaseSeconds);
      if (!claimed) return idleMs;
      return (await this.#work(claimed)) ? 0 : faultMs;
    } catch (error) {
      log.error({ err: error }, "a backtest could not be claimed or completed and will be retried");
      return faultMs;
    }
  }

  // Returns false if the run failed. A failed backtest is run again, here or in another process, up to `begunMax` runs in all.
  async #work(claimed: ClaimedBacktest): Promise<boolean> {
    const { database, clock, log } = this.#options;
    const hold = new LeaseKeeper(database, claimed);
    const end = async (ending: Ending) => {
      const { lease } = hold;
      if (lease) await database.transaction((tx) => saveEnding(tx, lease, ending));
    };
    const fail = (fault: string) => end({ status: "FAILED", fault, now: clock.now() });
    if (claimed.begun > begunMax) {
      await fail(`The backtest was started ${begunMax} times and never finished.`);
      return true;
    }
    try {
      const result = await runBacktest({ database, claimed, hold, signal: this.signal });
      await end(result ? { status: "DONE", result, now: clock.now() } : { status: "QUEUED", begun: 0 });
      return true;
    } catch (error) {
      const { tenant_id, backtest_id, begun } = claimed;
      log.error({ err: error, tenant_id, backtest_id }, "a backtest failed");
      if (error instanceof RuleFault) await fail(`The draft is not a rule: ${error.message}`);
      else if (begun >= begunMax) await fail("The backtest could not be run. The service's log contains the reason.");
      else await end({ status: "QUEUED", begun });
      return false;
    }
  }
}

// The lease on a backtest, renewed while the work goes on. It is lost if the backtest is cancelled or another process takes it
// over.
export class LeaseKeeper {
  readonly #database: Database;
  readonly #everyMs: number;
  #savedAt = performance.now();
  lease: Lease | null;

  constructor(database: Database, lease: Lease, everyMs = 1_000) {
    this.#database = database;
    this.#everyMs = everyMs;
    this.lease = lease;
  }

  async keep(done: number, estimate: number): Promise<void> {
    const { lease } = this;
    const now = performance.now();
    if (!lease || now - this.#savedAt < this.#everyMs) return;
    this.#savedAt = now;
    const saved = { progress: progressOf(done, estimate), leaseSeconds };
    this.lease = await this.#database.transaction((tx) => saveProgress(tx, lease, saved));
  }
}

type Run = { database: Database; claimed: ClaimedBacktest; hold: LeaseKeeper; signal: AbortSignal };

// Returns null if the run was stopped, either by losing its lease or by the signal. It uses its own connection, so no request
// waits behind a long read.
export async function runBacktest({ database, claimed, hold, signal }: Run): Promise<StoredResult | null> {
  const { tenant_id: tenantId, request } = claimed;
  const draft = compileDraft(request.expression);
  const { readsLists } = draft;
  const client = await database.connect();
  try {
    const reader: Queryable = {
      query: async <R extends Row>(statement: Statement) => (await client.query<R>(statement)).rows,
    };
    const lists = readsLists ? await findLists(reader, tenantId) : undefined;
    const days = daysOf(request);
    const tally = new Tally(days.map(({ day }) => day));
    const estimate = await estimateDecisions(reader, tenantId, { from: `${request.from}T00:00:00.000Z`, until: request.until });
    let done = 0;
    for (const day of days) {
      for (let before: ExampleKey | null = endOf(day.until); before;) {
        const span = { ...day, before };
        const chunk: Chunk = await readDecisions(reader, tenantId, {
          ...span,
          limit: chunkMax,
          hasDocuments: draft.readsAttributes || readsLists,
          hasNames: readsLists,
        });
        const hits = await hitsOf(draft, chunk, lists);
        tally.addDecisions(day.day, chunk.count);
        const keys = [...hits.keys()];
        for (const row of await listSubjects(reader, tenantId, { ...span, last: chunk.next, keys })) {
          addHit(tally, { row, day: day.day, about: request.about, ...decided(hits, row.id_key) });
        }
        done += chunk.count;
        await nextTurn();
        await hold.keep(done, estimate);
        if (signal.aborted || !hold.lease) return null;
        before = chunk.next;
      }
    }
    return tally.result(await countOutcomesOf(reader, tenantId, tally.subjects));
  } finally {
    await client.end();
  }
}

type Decided = { score: number; decision: string };

// The lists as they are now, with the entries that have not expired.
async function findLists(reader: Queryable, tenantId: string): Promise<Lists | undefined> {
  const { lists_revision } = await findDetection(reader, tenantId);
  return new ListSets().current(reader, tenantId, lists_revision);
}

function viewOf(lists: Lists, decision: string, document: string, names: string): ListView {
  // Written by readDecisions.
  const [origin, website_account_id, device_id, ip, user_agent] = JSON.parse(names) as [string, ...(string | null)[]];
  const named = { website_account_id: website_account_id ?? null, device_id: device_id ?? null, ip: ip ?? null };
  return lists.view(listedRow({ origin, ...named, user_agent: user_agent ?? null, document, decision }), Date.now());
}

async function hitsOf(draft: Draft, chunk: Chunk, lists: Lists | undefined): Promise<Map<string, Decided>> {
  const { count, decisions, documents, names, scoreOf, keyOf } = chunk;
  const hits = new Map<string, Decided>();
  let sliceBegan = performance.now();
  // A pattern can take a thousand times as long as any other test. After a slice with patterns, the backtest pauses for as long
  // as it ran, because other work is waiting for the process.
  const atOnce = draft.hasPatterns ? 1 : lookedAtOnce;
  for (let index = 0; index < count; index++) {
    const workedMs = index % atOnce === 0 ? performance.now() - sliceBegan : 0;
    if (workedMs > sliceMs) {
      await (draft.hasPatterns ? sleep(workedMs) : nextTurn());
      sliceBegan = performance.now();
    }
    const [decision, document] = [decisions[index] ?? "", documents[index] ?? ""];
    const view = lists && viewOf(lists, decision, document, names[index] ?? "");
    if (draft.test(decision, document, view)) hits.set(keyOf(index), { score: scoreOf(index), decision });
  }
  return hits;
}

function decided(hits: Map<string, Decided>, key: string): Decided {
  const found = hits.get(key);
  if (!found) throw new Error("a subject without a hit");
  return found;
}

type Added = Decided & { row: HitRow; day: string; about: BacktestRequest["about"] };

function addHit(tally: Tally, { row, day, about, score, decision }: Added): void {
  const { received_at, id_key, occurred_at, website_account_id } = row;
  tally.addHit({
    key: { received_at, id_key },
    day,
    occurred_at,
    score,
    decision,
    subject: subjectOfHit(row, decision, about),
    website_account_id,
  });
}

function subjectOfHit(
  { type, activity_id, occurred_at, ...row }: HitRow,
  decision: string,
  about: BacktestRequest["about"],
): string {
  const activity = {
    activity_id,
    type,
    occurred_at,
    ...(row.website_account_id !== null && { website_account_id: row.website_account_id }),
    ...(row.session_id !== null && { session_id: row.session_id }),
    ...(row.device_id !== null && { device_id: row.device_id }),
    ...(row.ip !== null && { ip: row.ip }),
  };
  // A draft has no campaign yet, so its findings are counted by day.
  const campaign = `campaign:draft:${occurred_at.slice(0, 10)}`;
  const address = addressSubject(activity.ip);
  if (about !== "network") return hitSubject(activity, about, { address, network: "", campaign });
  const asn = Number(featuresOf(decision)["event.asn"] ?? 0);
  return hitSubject(activity, about, { address: null, network: networkOf(asn, row.ip), campaign });
}

// Names a network the same way as enrichment does.
function networkOf(asn: number, ip: string | null): string {
  if (asn !== 0) return `AS${asn}`;
  return ip === null ? "" : blockOf(ip);
}
