import { beforeAll, expect, test } from "vitest";
import type { Database, Row, Transaction } from "../src/db/postgres/database.ts";
import { sql, type Statement } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { decisionsOf, drain, labDetector, newTenant, snapshot, store, useLab, waiting } from "./engine-lab.ts";
import { landEnrichment, tellStory } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
// Both parts contain attacks, so batches open cases and join cases of earlier batches.
const story = tellStory("crash", 4);
const parts = 2;
const stepsMax = 500;
const written =
  "accounts activities activity_ids cases documents entity_states events linked links metric_buckets rule_hits rule_subjects sessions user_agents";

const partOf = (part: number): RecordedActivity[] => story.filter((_, index) => index % parts === part);

let undisturbed: Record<string, string[]>;
beforeAll(async () => {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  for (let part = 0; part < parts; part++) {
    await store(lab.current, tenantId, partOf(part));
    expect(await drain(detector, tenantId)).toBe(partOf(part).length);
  }
  undisturbed = await snapshot(lab.current, tenantId);
  const fired = new Set([...(await decisionsOf(lab.current, tenantId)).values()].flatMap(({ rules }) => rules));
  expect(fired.size).toBeGreaterThanOrEqual(10);
  for (const table of written.split(" ")) expect([table, (undisturbed[table] ?? []).length > 0]).toEqual([table, true]);
});

class Killed extends Error {}

type Fault = (tx: Transaction, send: () => Promise<Row[]>) => Promise<Row[]>;

// How a process may die at a statement: after the database executed it, or with its connection.
const faults: Record<string, Fault> = {
  "after it": async (_tx, send) => {
    await send();
    throw new Killed("after");
  },
  "by the loss of its connection": async (tx) => tx.query(sql`select pg_terminate_backend(pg_backend_pid())`),
};

// Returns the same database, except that the fault occurs at statement number `step` of a transaction. `commit` counts as a step.
function failingAt(database: Database, step: number, fault: Fault): { database: Database; hasFailed: () => boolean } {
  let hasFailed = false;
  const fail = (tx: Transaction, send: () => Promise<Row[]>) => {
    hasFailed = true;
    return fault(tx, send);
  };
  const transaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      let at = 0;
      const query = async <R extends Row>(sent: Statement): Promise<R[]> => {
        const send = () => tx.query<R>(sent);
        // A fault returns no rows.
        return ++at === step ? ((await fail(tx, send)) as R[]) : send();
      };
      const result = await work({ isPatient: tx.isPatient, query });
      if (++at === step) await fail(tx, () => Promise.resolve([]));
      return result;
    });
  const get = (target: Database, name: string | symbol): unknown =>
    name === "transaction" ? transaction : Reflect.get(target, name, target);
  return { database: new Proxy(database, { get }), hasFailed: () => hasFailed };
}

// Kills a batch at its first statement, then at its second, and so on until it completes. Returns how many statements it had.
async function killAtEachStep(tenantId: string, fault: Fault): Promise<number> {
  const { database } = lab.current;
  const sent = await waiting(lab.current, tenantId);
  const detector = labDetector(database, { enrichment });
  for (let step = 1; step <= stepsMax; step++) {
    const failing = failingAt(database, step, fault);
    const outcome = await detectBatch({ ...detector, database: failing.database }, tenantId).catch((error: unknown) => error);
    const left = await waiting(lab.current, tenantId);
    if (!failing.hasFailed() && left === 0) return step - 1;
    if (!(outcome instanceof Error) || left !== sent) throw new Error(`killed at ${step} it left ${left} of ${sent}`);
  }
  throw new Error(`not through after ${stepsMax} statements`);
}

test.each(Object.entries(faults))(
  "crash: a batch killed at any of its statements, %s, changes nothing, and a rerun gives the same result",
  async (_name, fault) => {
    const tenantId = await newTenant(lab.current);
    for (let part = 0; part < parts; part++) {
      await store(lab.current, tenantId, partOf(part));
      // About twenty, plus those of its cases.
      expect(await killAtEachStep(tenantId, fault)).toBeGreaterThan(20);
    }
    expect(await snapshot(lab.current, tenantId)).toEqual(undisturbed);
  },
  60_000,
);

test("crash: a process that dies after the commit, before it sees the result, leaves nothing to be done twice", async () => {
  const { database } = lab.current;
  const tenantId = await newTenant(lab.current);
  const transaction = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    await database.transaction(work);
    throw new Killed("after the commit");
  };
  const get = (target: Database, name: string | symbol): unknown =>
    name === "transaction" ? transaction : Reflect.get(target, name, target);
  const forgetful = labDetector(new Proxy(database, { get }), { enrichment });
  for (let part = 0; part < parts; part++) {
    await store(lab.current, tenantId, partOf(part));
    await expect(detectBatch(forgetful, tenantId)).rejects.toBeInstanceOf(Killed);
    await store(lab.current, tenantId, partOf(part));
    expect(await drain(labDetector(database, { enrichment }), tenantId)).toBe(0);
  }
  expect(await snapshot(lab.current, tenantId)).toEqual(undisturbed);
});
