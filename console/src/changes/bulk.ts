import { ProblemError, type BulkClose, type BulkCloseResult, type Case } from "@casehound/client";
import type { Desk, Disposition } from "./desk.ts";

export type BulkVerdict = { disposition: Disposition; reason: string };
export type BulkCase = { case_id: string; case_version: number };

export type BulkOutcome =
  | { kind: "waiting" }
  | { kind: "closed"; case_version: number }
  | { kind: "already-closed"; by: string }
  | { kind: "changed"; from: number; to: number }
  | { kind: "absent" }
  | { kind: "failed"; words: string };

type Batch = { cases: BulkCase[]; key: string };

// Small, so that the bar moves and no lock is held for long.
const batchSize = 25;
const contendedMax = 3;

// One list of cases, closed batch by batch, with an outcome for each. What failed can be tried again; a batch whose answer was
// lost goes out again under its own key, so that nothing is done twice.
export class BulkClosing {
  readonly #desk: Desk;
  readonly #verdict: BulkVerdict;
  readonly #onProgress: () => void;
  #batches: Batch[];
  #shown: ReadonlyMap<string, BulkOutcome>;

  constructor(desk: Desk, cases: readonly BulkCase[], verdict: BulkVerdict, onProgress: () => void = () => {}) {
    this.#desk = desk;
    this.#verdict = verdict;
    this.#onProgress = onProgress;
    this.#batches = batchesOf(desk, cases);
    this.#shown = new Map(cases.map((each) => [each.case_id, { kind: "waiting" }]));
  }

  outcomes = (): ReadonlyMap<string, BulkOutcome> => this.#shown;

  get done(): number {
    return [...this.#shown.values()].filter((each) => each.kind !== "waiting").length;
  }

  get hasFailed(): boolean {
    return [...this.#shown.values()].some((each) => each.kind === "failed");
  }

  async run(): Promise<void> {
    const left: Batch[] = [];
    for (const batch of this.#batches) {
      const contended = await this.#send(batch, left);
      for (const each of contended) left.push({ cases: [each], key: this.#desk.newKey() });
    }
    this.#batches = left;
  }

  // Those that failed, once more.
  async retry(): Promise<void> {
    const again = this.#batches.flatMap(({ cases }) => cases);
    this.#record(again.map(({ case_id }) => [case_id, { kind: "waiting" }]));
    await this.run();
  }

  // Gives back those that stayed contended.
  async #send(batch: Batch, left: Batch[], tries = 1): Promise<BulkCase[]> {
    const { reason, disposition } = this.#verdict;
    const body: BulkClose = { cases: batch.cases, disposition, ...(reason !== "" && { reason }) };
    const { client, outbox, newKey } = this.#desk;
    const send = () => client.call("closeCases", { body, idempotencyKey: batch.key });
    try {
      const { results } = await outbox.deliver("Closing cases", send);
      const byId = new Map(batch.cases.map((each) => [each.case_id, each]));
      const contended = results.filter((each) => each.type === "transaction-contended");
      const settled = results.filter((each) => each.type !== "transaction-contended");
      const outcomes = await Promise.all(
        settled.map(async (each) => [each.case_id, await this.#outcomeOf(each, byId.get(each.case_id))] as const),
      );
      this.#record(outcomes);
      const held = contended.flatMap((each) => byId.get(each.case_id) ?? []);
      if (held.length === 0) return [];
      if (tries < contendedMax) return await this.#send({ cases: held, key: newKey() }, left, tries + 1);
      const words = "Somebody else is changing it right now.";
      this.#record(held.map((each) => [each.case_id, { kind: "failed", words }]));
      return held;
    } catch (error) {
      // Whether it was applied is unknown unless the service said so: the same key finds out.
      left.push(batch);
      const words = error instanceof ProblemError ? error.detail : "The service did not answer.";
      this.#record(batch.cases.map((each) => [each.case_id, { kind: "failed", words }]));
      return [];
    }
  }

  async #outcomeOf(result: BulkCloseResult, wanted: BulkCase | undefined): Promise<BulkOutcome> {
    const seen = wanted?.case_version ?? 0;
    if (result.status === 404) return { kind: "absent" };
    const isOurs = result.status === 200 && result.case_version !== seen;
    if (isOurs) return { kind: "closed", case_version: result.case_version ?? seen + 1 };
    const found = await this.#read(result.case_id);
    if (found.status === "CLOSED") return { kind: "already-closed", by: found.current_state.changed_by };
    return { kind: "changed", from: seen, to: found.case_version };
  }

  #read(caseId: string): Promise<Case> {
    const { client, outbox } = this.#desk;
    return outbox.deliver("Reading a case", () => client.call("getCase", { params: { case_id: caseId } }));
  }

  #record(entries: Iterable<readonly [string, BulkOutcome]>): void {
    this.#shown = new Map([...this.#shown, ...entries]);
    this.#onProgress();
  }
}

function batchesOf(desk: Desk, cases: readonly BulkCase[]): Batch[] {
  const count = Math.ceil(cases.length / batchSize);
  return Array.from({ length: count }, (_, index) => {
    const own = cases.slice(index * batchSize, (index + 1) * batchSize);
    // Callers hand over whole rows; the service takes these two members and no other.
    return { cases: own.map(({ case_id, case_version }) => ({ case_id, case_version })), key: desk.newKey() };
  });
}
