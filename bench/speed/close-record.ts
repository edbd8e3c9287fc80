// The statements of a close as the service sends them, with their values, for pgbench to run. They are recorded from the
// service's own handler, so they stay the same when it changes.
import { randomUUID } from "node:crypto";
import { closeTogether } from "../../service/src/api/case-update.ts";
import { caseOperations } from "../../service/src/api/cases.ts";
import type { Call, Services } from "../../service/src/api/operation.ts";
import { clock } from "../../service/src/clock.ts";
import type { Database, Queryable, Row, TenantDatabase, Transaction } from "../../service/src/db/postgres/database.ts";
import type { Statement } from "../../service/src/db/postgres/sql.ts";
import type { Bench } from "../machine.ts";
import type { Closable, Tenant } from "./stand.ts";
import { closeOf } from "./work.ts";

const newId = () => randomUUID();

class TakenBack extends Error {}

export function recording(on: Queryable, into: Statement[]): Queryable {
  return {
    query: (statement) => {
      into.push(statement);
      return on.query(statement);
    },
  };
}

// Records everything that runs on it, and rolls it back.
function recordingDatabase(database: Database, recorded: Statement[]): TenantDatabase {
  const transact = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const results: T[] = [];
    const run = database.transaction(async (tx) => {
      recorded.length = 0;
      results.push(await work({ ...recording(tx, recorded), isPatient: tx.isPatient }));
      throw new TakenBack();
    });
    await run.catch((error: unknown) => {
      if (!(error instanceof TakenBack)) throw error;
    });
    const [result] = results.splice(-1);
    if (result === undefined) throw new Error("a transaction had no result");
    return result;
  };
  const alone = <R extends Row>(statement: Statement) => transact((tx) => tx.query<R>(statement));
  return { ...recording(database, recorded), transaction: transact, tryOnce: transact, alone };
}

// A close that shares its transaction with no other.
export async function recordClose({ database }: Bench, tenant: Tenant, closable: Closable): Promise<Statement[]> {
  const recorded: Statement[] = [];
  const recorder = recordingDatabase(database, recorded);
  const closeAlone: Services["closeTogether"] = async (tenantId, update) => {
    const [reply = null] = await closeTogether(recorder, tenantId, { updates: [update], newId });
    return reply;
  };
  // Only what a close needs.
  const services = { database: recorder, now: clock.now, newId, closeTogether: closeAlone } as unknown as Services;
  const caller = { tenant_id: tenant.tenant_id, slug: tenant.slug, actor: tenant.client_id, scopes: new Set<string>() };
  const call: Call = {
    caller,
    params: { case_id: closable.case_id },
    query: {},
    body: closeOf(closable),
    key: `recorded-${closable.case_id}`,
  };
  const reply = await caseOperations.find(({ id }) => id === "updateCase")?.handle(services, call);
  if (reply?.status !== 200) throw new Error(`the close could not be recorded: ${reply?.body}`);
  if (recorded.length === 0) throw new Error("the close sent no statements that could be recorded");
  return recorded;
}
