import { Client, DatabaseError, type Pool, type PoolClient, type QueryResult } from "pg";
import { Failure } from "../../domain/failure.ts";
import { RoleConnections, clientOptions, endingOf, givenUp, type DatabaseAddress } from "./connections.ts";
import { sql, unprepared, type Row, type Statement } from "./sql.ts";
import { send, silenceMessage } from "./wire.ts";

export type { Row };

// What the functions of db/ run their statements on: the database itself, or one transaction.
export type Queryable = { query: <R extends Row>(statement: Statement) => Promise<R[]> };
// A patient transaction may wait for locks as long as the contract allows. Rows that are still locked after that are contended.
export type Transaction = Queryable & { isPatient: boolean };

// The database as one tenant's requests see it. With the tenant lock on, rows of other tenants are invisible.
export type TenantDatabase = Queryable & { transaction: Transact; tryOnce: Transact };
type Transact = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

type Attempt = { lane: RoleConnections; begin: string; isPatient: boolean };

const attemptsMax = 3;
const writersMaxDefault = 10;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// A unique violation is also a race: run again, the transaction sees the row that it lost to.
const contendedCodes = new Set(["40001", "40P01", "23505"]);
export const lockTimeoutCode = "55P03";
export const statementTimeoutCode = "57014";
const readOnlyCode = "25006";
// An earlier statement of the transaction failed.
const abortedCode = "25P02";
const idleTimeoutCode = "25P03";
// Connection exceptions, insufficient resources (too many connections, disk full), an operator's shutdown, and a read-only
// server.
const awayCodes = /^(08|53|57P|58|25P03|25006)/;
// Errors without a code: the connection was closed, or none could be opened.
const awayMessages = /connection|timeout expired|client was closed|not queryable/i;

// Used directly, it sees every tenant. The engine, the collector, sign-in and the command line use it this way. Work for a single
// tenant goes through `forTenant`.
export class Database implements TenantDatabase {
  readonly #address: DatabaseAddress;
  readonly #writersMax: number;
  readonly #all: RoleConnections;
  #locked: RoleConnections | null = null;
  #role: string | null = null;
  #isEnded = false;

  constructor(address: DatabaseAddress, options: { writersMax?: number } = {}) {
    this.#address = address;
    this.#writersMax = options.writersMax ?? writersMaxDefault;
    this.#all = new RoleConnections(address, { writersMax: this.#writersMax });
  }

  // For another thread of this process, which needs connections of its own.
  get address(): DatabaseAddress {
    return this.#address;
  }

  // From now on, work for a tenant runs under this role, to which the tables' policies apply.
  lockTenants(role: string): void {
    this.#role = role;
    this.#locked ??= new RoleConnections(this.#address, { writersMax: this.#writersMax, role });
  }

  // The role of tenants' work, or null without the lock.
  get tenantRole(): string | null {
    return this.#role;
  }

  forTenant(tenantId: string): TenantDatabase {
    const lane = this.#locked;
    if (!lane) return this;
    if (!uuid.test(tenantId)) throw new Error("The tenant id is not a UUID.");
    const begin = `begin; set local casehound.tenant = '${tenantId}'`;
    return {
      query: (statement) => this.#read(lane, statement, tenantId),
      transaction: (work) => this.#transact(lane, begin, work),
      tryOnce: (work) => this.#tryOnce(lane, begin, work),
    };
  }

  query<R extends Row>(statement: Statement): Promise<R[]> {
    return this.#read(this.#all, statement, null);
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transact(this.#all, "begin", work);
  }

  tryOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#tryOnce(this.#all, "begin", work);
  }

  // Sends one read down one of a few pipelined connections. If that connection is dead, retries once on a new one.
  async #read<R extends Row>(lane: RoleConnections, statement: Statement, tenantId: string | null): Promise<R[]> {
    const slot = lane.nextSlot();
    const reader = lane.reader(slot);
    try {
      return await (await reader).ask<R>(statement, tenantId);
    } catch (error) {
      if (!isAway(error) || this.#isEnded) throw toFailure(error);
      if (codeOf(error) === readOnlyCode) lane.dropReader(slot, reader);
    }
    try {
      return await (await lane.reader(slot)).ask<R>(statement, tenantId);
    } catch (error) {
      throw toFailure(error);
    }
  }

  // Fails if the database cannot be reached, or is read-only. The statement finds nothing and locks nothing, but PostgreSQL
  // refuses it in a read-only transaction.
  async requireWrites(): Promise<void> {
    await this.query(sql`select 1 as ready from service_settings where false for update`);
  }

  // Runs `work` in one transaction, all or nothing. If it loses a race in the database, it is run again, up to three times in
  // all, so `work` must have no effects outside the transaction.
  async #transact<T>(lane: RoleConnections, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let isPatient = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt({ lane, begin, isPatient }, work);
      } catch (error) {
        const wasBrief: boolean = !isPatient && codeOf(error) === lockTimeoutCode;
        isPatient ||= wasBrief;
        if (wasBrief) continue;
        if (!contendedCodes.has(codeOf(error))) throw toFailure(error);
        if (attempt === attemptsMax) throw contended(error);
      }
    }
  }

  // Waits only briefly for locks and is not run again. For callers that have another way to do the work.
  async #tryOnce<T>(lane: RoleConnections, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt({ lane, begin, isPatient: false }, work);
    } catch (error) {
      throw contendedCodes.has(codeOf(error)) ? contended(error) : toFailure(error);
    }
  }

  // A separate connection outside the pool, for LISTEN and for locks that outlive a transaction. Its statements have no time
  // limit unless one is given. A statement that exceeds the limit ends the connection.
  async connect({ role, silenceMs }: { role?: string; silenceMs?: number } = {}): Promise<Client> {
    const patient = { lock_timeout: 0, statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
    // On a pipelined connection, the driver's limit also ends the connection.
    const own = { ...patient, query_timeout: silenceMs ?? 0, pipeline: silenceMs !== undefined };
    const client = new Client({ ...clientOptions(this.#address, role), ...own });
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.race([Promise.all([this.#all.end(), this.#locked?.end()]), givenUp()]);
  }

  async #attempt<T>({ lane, begin, isPatient }: Attempt, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await lend(isPatient ? lane.waiters : lane.writers);
    let isBroken = true;
    const tx = new OpenTransaction(client, isPatient);
    try {
      // Wait for BEGIN: after one that failed, each statement would be its own transaction.
      await send(client, unprepared(begin));
      const result = await work(tx);
      tx.end();
      await commit(client);
      isBroken = false;
      return result;
    } catch (thrown) {
      const error = tx.causeOf(thrown);
      tx.end();
      // A successful rollback shows that the connection is alive. If it fails, the connection is closed, which rolls back too.
      const isAlive = await send(client, unprepared("rollback")).then(
        () => true,
        () => false,
      );
      // The next connection may reach a server that accepts writes.
      isBroken = !isAlive || codeOf(error) === readOnlyCode;
      throw error instanceof Failure || !isAway(error) ? error : (endingOf(client) ?? error);
    } finally {
      client.release(isBroken);
    }
  }
}

async function lend(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // Every connection is busy with writes that wait for locks. The database is reachable, and nothing was attempted.
    const isFull = pool.totalCount >= pool.options.max && /timeout exceeded/.test(String(error));
    throw isFull ? busy(error) : error;
  }
}

// If one of several concurrent statements fails, the others may still send more after the transaction has ended. That would run
// as its own transaction, or as part of someone else's, so it is rejected.
class OpenTransaction implements Transaction {
  readonly isPatient: boolean;
  readonly #client: PoolClient;
  #hasEnded = false;
  #failure: unknown;

  constructor(client: PoolClient, isPatient: boolean) {
    this.#client = client;
    this.isPatient = isPatient;
  }

  async query<R extends Row>(statement: Statement): Promise<R[]> {
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

async function commit(client: PoolClient): Promise<void> {
  let done: QueryResult;
  try {
    done = await send(client, unprepared("commit"));
  } catch (cause) {
    if (contendedCodes.has(codeOf(cause))) throw cause;
    // The server may or may not have committed before the connection was lost, so only 500 is correct.
    throw new Failure(
      "internal-error",
      "The connection to the database was lost while the change was being committed. Retry with the same key to learn the outcome.",
      { cause },
    );
  }
  if (done.command !== "COMMIT") throw new Error(`commit returned ${done.command}`);
}

function busy(cause: unknown): Failure {
  const headers = { "retry-after": "1" };
  return new Failure("rate-limited", "Too many changes are waiting. Nothing was applied: retry after a short delay.", {
    headers,
    cause,
  });
}

export function contended(cause?: unknown): Failure {
  return new Failure("transaction-contended", "A concurrent change won. Nothing was applied: read again and retry.", { cause });
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

// Whether the connection was lost or cannot be opened now.
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (error instanceof DatabaseError) return awayCodes.test(code);
  return /^E[A-Z]+$/.test(code) || awayMessages.test(error.message);
}

export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === lockTimeoutCode) return contended(error);
  const isSilent = error instanceof Error && error.message === silenceMessage;
  if (code === statementTimeoutCode || isSilent)
    return new Failure("bad-gateway", "The database took too long. Retry after a short delay.", { cause: error });
  if (code === idleTimeoutCode)
    return new Failure("bad-gateway", "The database ended a transaction that was idle for too long. Retry after a short delay.", {
      cause: error,
    });
  if (isAway(error))
    return new Failure("bad-gateway", "The database cannot be reached. Retry after a short delay.", { cause: error });
  return error;
}
