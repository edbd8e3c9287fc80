import type { PoolClient } from "pg";
import { abortedCode, codeOf } from "./faults.ts";
import type { Row, Statement } from "./sql.ts";
import { send } from "./wire.ts";

// What the functions of db/ run their statements on: the database itself, or one transaction.
// `isCluster`: it is the coordinator of a cluster, which needs other statements in a few places.
// `isLocked`: row-level security applies, and keeps PostgreSQL from using indexes on expressions.
export type Queryable = {
  query: <R extends Row>(statement: Statement) => Promise<R[]>;
  readonly isCluster?: boolean;
  readonly isLocked?: boolean;
};
// A patient transaction may wait for locks as long as the contract allows. Rows that are still locked after that are contended.
export type Transaction = Queryable & { isPatient: boolean };

// For the first statements of a transaction if they change nothing: they are sent together with its BEGIN, which saves a round trip.
// A row lock is no change, because it ends with its transaction.
export function early(tx: Queryable): Queryable {
  return { ...tx, query: (statement) => tx.query({ ...statement, changesNothing: true }) };
}

// If one of several concurrent statements fails, the others may still send more after the transaction has ended. That would run
// as its own transaction, or as part of someone else's, so it is rejected.
export class OpenTransaction implements Transaction {
  readonly isPatient: boolean;
  readonly isCluster: boolean;
  readonly #client: PoolClient;
  readonly #begun: Promise<unknown>;
  #hasBegun = false;
  #hasEnded = false;
  #failure: unknown;

  constructor(
    client: PoolClient,
    { isPatient, isCluster, begun }: { isPatient: boolean; isCluster: boolean; begun: Promise<unknown> },
  ) {
    this.#client = client;
    this.isPatient = isPatient;
    this.isCluster = isCluster;
    this.#begun = begun.then(() => (this.#hasBegun = true));
    this.#begun.catch(() => {});
  }

  async query<R extends Row>(statement: Statement): Promise<R[]> {
    // Wait for BEGIN: after one that failed, each statement would be its own transaction.
    if (!this.#hasBegun && statement.changesNothing !== true) await this.#begun;
    if (this.#hasEnded) throw new Error("The transaction has ended.");
    try {
      return (await send<R>(this.#client, statement)).rows;
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  // Returns the error that made the transaction fail. Statements are pipelined, so those that were sent after the failed one fail
  // too, and the work may throw one of their errors first. Such an error says only that the transaction was aborted.
  causeOf(error: unknown): unknown {
    return codeOf(error) === abortedCode ? (this.#failure ?? error) : error;
  }

  end(): void {
    this.#hasEnded = true;
  }
}
