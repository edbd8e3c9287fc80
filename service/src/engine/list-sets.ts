import { setImmediate as nextTurn } from "node:timers/promises";
import { listChangedEntries, listDefinitions, listRemovals, removalsKeptMs } from "../db/list-changes.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { Lists } from "../detection/lists.ts";

// Entries of all tenants together. A million take about 100 MB.
const entriesMax = 3_000_000;
const pageMax = 10_000;

type Position = { revision: number; list_name: string; key: string };
type Known = { lists: Lists; syncedMs: number; read: number };

// Compiles a tenant's lists, and later reads only what has changed. So a change to a list of a million entries takes effect in
// the next batch.
export class ListSets {
  readonly #known = new Map<string, Known>();
  // The engine and a judgement at a deadline may want the same lists at the same time. Only one of them reads.
  readonly #reading = new Map<string, Promise<unknown>>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs;
  }

  // Returns undefined for a tenant without lists. Tenants that never had one have the revision 0.
  async current(tx: Queryable, tenantId: string, revision: number): Promise<Lists | undefined> {
    if (revision === 0) return undefined;
    for (let other = this.#reading.get(tenantId); other; other = this.#reading.get(tenantId)) await other.catch(() => {});
    const known = this.#usable(tenantId);
    if (known.lists.revision !== revision) {
      const reading = this.#read(tx, tenantId, known, revision).finally(() => this.#reading.delete(tenantId));
      this.#reading.set(tenantId, reading);
      await reading;
    }
    known.syncedMs = this.#nowMs();
    // The tenant that was used last is dropped last.
    this.#known.delete(tenantId);
    this.#makeRoom(known.read);
    this.#known.set(tenantId, known);
    return known.lists.isEmpty ? undefined : known.lists;
  }

  // What was removed is stored only for a while. Lists that were not used for longer are read as a whole.
  #usable(tenantId: string): Known {
    const known = this.#known.get(tenantId);
    const isFresh = known !== undefined && this.#nowMs() - known.syncedMs < removalsKeptMs / 2;
    return isFresh ? known : { lists: new Lists(), syncedMs: this.#nowMs(), read: 0 };
  }

  async #read(tx: Queryable, tenantId: string, known: Known, revision: number): Promise<void> {
    // If reading fails, some changes are applied and others are not, so nothing of it is used again.
    this.#known.delete(tenantId);
    const earlier = known.lists.revision;
    const removals = earlier === 0 ? [] : await listRemovals(tx, tenantId, earlier);
    const isWhole = removals.some(({ key }) => key === "");
    if (isWhole) known.lists = new Lists();
    const { lists } = known;
    const since = isWhole ? 0 : earlier;
    lists.define(await listDefinitions(tx, tenantId));
    for (const { list_name, key } of removals) lists.delete(list_name, key);
    // Revisions are integers, so this position is after everything of the earlier revision.
    for (let after: Position | null = { revision: since + 1, list_name: "", key: "" }; after;) {
      const page = await listChangedEntries(tx, tenantId, { after, limit: pageMax });
      for (const entry of page) lists.set(entry);
      known.read += page.length;
      after = page.length < pageMax ? null : (page.at(-1) ?? null);
      // Requests in the same process must not wait for a million entries.
      if (after) await nextTurn();
    }
    lists.revision = revision;
  }

  #makeRoom(needed: number): void {
    let total = needed;
    for (const { read } of this.#known.values()) total += read;
    for (const [tenantId, { read }] of this.#known) {
      if (total <= entriesMax) return;
      this.#known.delete(tenantId);
      total -= read;
    }
  }
}
