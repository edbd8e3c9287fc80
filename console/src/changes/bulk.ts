import { ProblemError, type BulkClose, type BulkCloseResult, type Case } from "@casehound/client";
import type { Desk, Disposition } from "./desk.ts";

export type BulkVerdict = { disposition: Disposition; own_disposition?: string; reason: string };
export type BulkCase = { case_id: string; case_version: number };

export type BulkOutcome =
  | { kind: "waiting" }
  | { kind: "closed"; case_version: number }
  | { kind: "already-closed"; by: string }
  | { kind: "changed"; from: number; to: number }
  | { kind: "absent" }
  | { kind: "failed"; words: string };

type Batch = { cases: BulkCase[]; key: string };

// Keep batches small, so the progress bar moves and no lock is held for long.
const batchSize = 25;
const contendedMax = 3;

// Closes a list of cases batch by batch and records an outcome for each. Failed cases can be retried. A batch whose response was
// lost is resent under its own idempotency key, so nothing is applied twice.
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

  // Retries the failed cases.
  async retry(): Promise<void> {
    const again = this.#batches.flatMap(({ cases }) => cases);
    this.#record(again.map(({ case_id }) => [case_id, { kind: "waiting" }]));
    await this.run();
  }

  // Returns the cases that are still contended.
  async #send(batch: Batch, left: Batch[], tries = 1): Promise<BulkCase[]> {
    const { reason, ...outcome } = this.#verdict;
    const body: BulkClose = { cases: batch.cases, ...outcome, ...(reason !== "" && { reason }) };
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
      const words = "Somebody else is changing this case right now.";
      this.#record(held.map((each) => [each.case_id, { kind: "failed", words }]));
      return held;
    } catch (error) {
      // Unless the service answered, we do not know whether the batch was applied. Resending it under the same key finds out.
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
    // Callers pass whole rows, but the service accepts only these two members.
    return { cases: own.map(({ case_id, case_version }) => ({ case_id, case_version })), key: desk.newKey() };
  });
}
