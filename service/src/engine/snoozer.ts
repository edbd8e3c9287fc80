import { addQuietCounts, endSnoozes, findQuiet, type QuietCount } from "../db/snoozes.ts";
import { hush } from "../detection/quiet.ts";
import type { Lead, Observed } from "../detection/leads.ts";
import type { DomainEvent } from "../domain/event.ts";
import { snoozeEnded, type Ending, type Quiet } from "../domain/snooze.ts";
import type { Batch } from "./cases.ts";

// Keeps rules quiet about the subjects of a batch, and counts the activities that this kept from the queue.
export class Snoozer {
  readonly #isIdle: boolean;
  #bySubject = new Map<string, Quiet[]>();
  readonly #counts = new Map<string, QuietCount>();
  readonly #ended = new Map<string, Ending>();

  // Without an active snooze, a batch needs no query. History is scored as it would have been on its own day, so snoozes do not
  // apply to it.
  constructor({ until, now, isHistory }: { until: string | null; now: string; isHistory: boolean }) {
    this.#isIdle = isHistory || until === null || until <= now;
  }

  // Whether the leads can be judged only after `load`.
  concerns(leads: Lead[], { activity, source }: Pick<Observed, "activity" | "source">): boolean {
    if (this.#isIdle) return false;
    const isReport = activity.type === "fraud_report" && source !== "page";
    return isReport || leads.some(({ verdict }) => verdict.logOdds > 0 || verdict.fired.length > 0);
  }

  async load({ tx, tenantId, now }: Batch, leads: Lead[]): Promise<void> {
    const subjects = [...new Set(leads.map(({ subject }) => subject))];
    if (this.#isIdle || subjects.length === 0) return;
    this.#bySubject = Map.groupBy(await findQuiet(tx, tenantId, { subjects, now }), ({ subject }) => subject);
  }

  // Returns the lead without the weight of quiet rules. A fraud report ends the snoozes of its account or source, so its lead is
  // returned unchanged.
  quiet<L extends Lead>(lead: L, observed: Pick<Observed, "activity" | "source" | "at">): L {
    const known = (this.#bySubject.get(lead.subject) ?? []).filter(({ snooze_id }) => !this.#ended.has(snooze_id));
    if (known.length === 0) return lead;
    const { activity, source } = observed;
    if (activity.type === "fraud_report" && source !== "page") {
      for (const { snooze_id } of known) this.#ended.set(snooze_id, "reported");
      return lead;
    }
    const { quieted, by, isKept, isOver } = hush(lead, known, observed);
    if (isOver) for (const { snooze_id } of by) this.#ended.set(snooze_id, "stronger_evidence");
    if (!quieted) return lead;
    for (const { snooze_id } of by) this.#count(snooze_id, isKept ? new Date(observed.at).toISOString() : null);
    return { ...lead, ...quieted };
  }

  #count(snooze_id: string, keptAt: string | null): void {
    const known = this.#counts.get(snooze_id) ?? { snooze_id, hits: 0, kept: 0, last_kept_at: null };
    const last_kept_at = keptAt !== null && keptAt > (known.last_kept_at ?? "") ? keptAt : known.last_kept_at;
    this.#counts.set(snooze_id, { snooze_id, hits: known.hits + 1, kept: known.kept + (keptAt === null ? 0 : 1), last_kept_at });
  }

  // Returns the events of the snoozes that ended.
  async save({ tx, tenantId, now }: Batch): Promise<DomainEvent[]> {
    await addQuietCounts(tx, tenantId, [...this.#counts.values()]);
    const events: DomainEvent[] = [];
    for (const because of ["stronger_evidence", "reported"] as const) {
      const ids = [...this.#ended].flatMap(([id, why]) => (why === because ? [id] : []));
      const ended = await endSnoozes(tx, tenantId, ids, { because, by: "system", now });
      events.push(...ended.map((each) => snoozeEnded(each, { because, by: "system", now })));
    }
    return events;
  }
}
