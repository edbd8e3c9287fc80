import { expect } from "vitest";
import type { Database, Row, Transaction } from "../src/db/postgres/database.ts";
import type { Statement } from "../src/db/postgres/sql.ts";

// Has an SQLSTATE, as a lost connection has. Otherwise it would look like an activity that cannot be scored.
class Killed extends Error {
  readonly code = "P0001";
}

// The same database, except that its transaction dies after statement number `step`, or after its last one, before the commit.
function dyingAt(database: Database, step: number): { database: Database; hasDied: () => boolean } {
  let hasDied = false;
  const die = () => {
    hasDied = true;
    throw new Killed("died");
  };
  const transaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      let at = 0;
      const query = async <R extends Row>(sent: Statement): Promise<R[]> => {
        const own = ++at;
        const rows = await tx.query<R>(sent);
        if (own === step) die();
        return rows;
      };
      const result = await work({ isPatient: tx.isPatient, query });
      if (++at === step) die();
      return result;
    });
  const get = (target: Database, name: string | symbol): unknown => {
    const value: unknown = name === "transaction" ? transaction : Reflect.get(target, name, target);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return { database: new Proxy(database, { get }), hasDied: () => hasDied };
}

// Runs the work again and again. It dies one statement later each time, until it is complete. After each death, `check` must find
// that nothing has changed.
export async function dieEverywhere<T>(
  database: Database,
  work: (database: Database) => Promise<T>,
  check: () => Promise<void>,
): Promise<{ result: T; steps: number }> {
  for (let steps = 1; ; steps++) {
    const dying = dyingAt(database, steps);
    try {
      const result = await work(dying.database);
      expect(dying.hasDied()).toBe(false);
      return { result, steps };
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await check();
    }
  }
}
