import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError, Pool, types, type ClientConfig, type PoolClient, type QueryResult } from "pg";
import { Failure } from "../domain/failure.ts";
import { sql, type Statement } from "./sql.ts";

export type Row = Record<string, unknown>;

// What a function of db/ runs its statements on: the database itself, or one transaction.
export type Queryable = { query: <R extends Row>(statement: Statement) => Promise<R[]> };
// Patient: it may wait for locks as long as the contract says, and what is locked then is contended.
export type Transaction = Queryable & { isPatient: boolean };

export type DatabaseAddress = { connectionString: string } | { host: string; user: string; database: string };

const lockTimeoutMs = 2_000;
const briefLockTimeoutMs = 50;
const statementTimeoutMs = 10_000;
// The database ends a statement by itself before that: one that has said nothing then is out of reach, though nobody closed anything.
const silenceTimeoutMs = statementTimeoutMs + 2_000;
const connectTimeoutMs = 3_000;
const keepAliveMs = 10_000;
const goodbyeTimeoutMs = 3_000;
const attemptsMax = 3;
const readersMax = 2;

// A unique violation is a race as well: run again, the transaction sees the row that it lost to.
const contendedCodes = new Set(["40001", "40P01", "23505"]);
export const lockTimeoutCode = "55P03";
const statementTimeoutCode = "57014";
// Connection exceptions, insufficient resources (too many connections, disk full) and an operator's shutdown.
const awayCodes = /^(08|53|57P|58|25P03)/;
// Without a code: of connections that were closed, or could not be had.
const awayMessages = /connection|timeout expired|client was closed|not queryable/i;
const silenceMessage = "Query read timeout";

export class Database {
  readonly #address: DatabaseAddress;
  readonly #writers: Pool;
  readonly #waiters: Pool;
  readonly #readers: (Promise<Client> | undefined)[] = [];
  #nextReader = 0;
  #isEnded = false;

  constructor(address: DatabaseAddress, options: { writersMax?: number } = {}) {
    this.#address = address;
    const max = options.writersMax ?? 10;
    // What has to wait long for a lock does so on connections of its own, so that it holds up none of the others.
    this.#writers = makePool(address, max, briefLockTimeoutMs);
    this.#waiters = makePool(address, Math.ceil(max / 2), lockTimeoutMs);
  }

  // One read. It goes down one of a few pipelined connections; where that one turns out to be dead, once more on a fresh one.
  async query<R extends Row>(statement: Statement): Promise<R[]> {
    const slot = this.#nextReader++ % readersMax;
    try {
      return (await (await this.#reader(slot)).query<R>(statement)).rows;
    } catch (error) {
      if (!isAway(error) || this.#isEnded) throw toFailure(error);
    }
    try {
      return (await (await this.#reader(slot)).query<R>(statement)).rows;
    } catch (error) {
      throw toFailure(error);
    }
  }

  async ping(): Promise<void> {
    await this.query(sql`select 1 as ready`);
  }

  // One transaction: all of `work` or nothing of it. Run again where the database chose it as the loser of a race,
  // three times at the most, so `work` must do nothing outside of the transaction.
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let isPatient = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work, isPatient);
      } catch (error) {
        const wasBrief: boolean = !isPatient && codeOf(error) === lockTimeoutCode;
        isPatient ||= wasBrief;
        if (wasBrief) continue;
        if (!contendedCodes.has(codeOf(error))) throw toFailure(error);
        if (attempt === attemptsMax) throw contended(error);
      }
    }
  }

  // A connection of one's own, outside of the pool: for LISTEN and for locks that outlive a transaction. Its statements take as
  // long as they take, unless they are given a limit, at which the connection ends.
  async connect(limits: { silenceMs?: number } = {}): Promise<Client> {
    const own = { lock_timeout: 0, statement_timeout: 0, query_timeout: limits.silenceMs ?? 0 };
    const client = new Client({ ...clientOptions(this.#address), ...own, pipeline: limits.silenceMs !== undefined });
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const readers = await Promise.allSettled(this.#readers.filter((reader) => reader !== undefined));
    const ended = Promise.allSettled([
      this.#writers.end(),
      this.#waiters.end(),
      ...readers.map((reader) => (reader.status === "fulfilled" ? reader.value.end() : undefined)),
    ]);
    await Promise.race([ended, givenUp()]);
  }

  async #attempt<T>(work: (tx: Transaction) => Promise<T>, isPatient: boolean): Promise<T> {
    const client = await lend(isPatient ? this.#waiters : this.#writers);
    let isBroken = true;
    const tx = new Inside(client, isPatient);
    try {
      await client.query("begin");
      const result = await work(tx);
      tx.end();
      await commit(client);
      isBroken = false;
      return result;
    } catch (error) {
      tx.end();
      // A rollback that succeeds shows that the connection lives; one that fails ends it, which rolls back too.
      isBroken = !(await client.query("rollback").then(
        () => true,
        () => false,
      ));
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

  #reader(slot: number): Promise<Client> {
    const existing = this.#readers[slot];
    if (existing) return existing;
    const client = new Client({ ...clientOptions(this.#address), pipeline: true });
    const connecting = client.connect().then(() => client);
    const drop = () => {
      if (this.#readers[slot] === connecting) this.#readers[slot] = undefined;
    };
    client.on("error", drop);
    client.on("end", drop);
    connecting.catch(drop);
    this.#readers[slot] = connecting;
    return connecting;
  }
}

// A database that is silent does not answer a goodbye either.
export function givenUp(): Promise<void> {
  return sleep(goodbyeTimeoutMs, undefined, { ref: false });
}

function makePool(address: DatabaseAddress, max: number, lock_timeout: number): Pool {
  // Pipelined: what a transaction asks at once is sent at once, and the database works while the next statement is written.
  const pool = new Pool({ ...clientOptions(address), pipeline: true, lock_timeout, max, idleTimeoutMillis: 60_000 });
  // An idle connection that breaks is replaced at the next use; there is nobody to tell before.
  pool.on("error", () => {});
  // One that breaks while it is lent out fails its query; without a listener it would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

async function lend(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // Every connection is busy with writes that wait for locks: the database is there, and nothing was tried.
    const isFull = pool.totalCount >= pool.options.max && /timeout exceeded/.test(String(error));
    throw isFull ? busy(error) : error;
  }
}

// Of several statements that are under way together one may fail: what the others would still send comes too late. Sent all the
// same, it would be a transaction of its own, or part of somebody else's.
class Inside implements Transaction {
  readonly isPatient: boolean;
  readonly #client: PoolClient;
  #hasEnded = false;

  constructor(client: PoolClient, isPatient: boolean) {
    this.#client = client;
    this.isPatient = isPatient;
  }

  async query<R extends Row>(statement: Statement): Promise<R[]> {
    if (this.#hasEnded) throw new Error("The transaction has ended.");
    return (await this.#client.query<R>(statement)).rows;
  }

  end(): void {
    this.#hasEnded = true;
  }
}

async function commit(client: PoolClient): Promise<void> {
  let done: QueryResult;
  try {
    done = await client.query("commit");
  } catch (cause) {
    if (contendedCodes.has(codeOf(cause))) throw cause;
    // The server may or may not have committed before the connection went: the one answer that does not lie is 500.
    throw new Failure(
      "internal-error",
      "The connection to the database was lost while the change was being committed. Retry with the same key to learn the outcome.",
      { cause },
    );
  }
  if (done.command !== "COMMIT") throw new Error(`commit was answered by ${done.command}`);
}

function busy(cause: unknown): Failure {
  const headers = { "retry-after": "1" };
  return new Failure("rate-limited", "Too many changes are waiting. Nothing was applied: retry after a short delay.", {
    headers,
    cause,
  });
}

export function contended(cause?: unknown): Failure {
  return new Failure("transaction-contended", "Another change won. Nothing was applied: read again, and retry.", { cause });
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (error instanceof DatabaseError) return awayCodes.test(code);
  return /^E[A-Z]+$/.test(code) || awayMessages.test(error.message);
}

function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === lockTimeoutCode) return contended(error);
  const isSilent = error instanceof Error && error.message === silenceMessage;
  if (code === statementTimeoutCode || isSilent)
    return new Failure("bad-gateway", "The database took too long. Retry after a short delay.", { cause: error });
  if (isAway(error))
    return new Failure("bad-gateway", "The database cannot be reached. Retry after a short delay.", { cause: error });
  return error;
}

function clientOptions(address: DatabaseAddress): ClientConfig {
  return {
    ...address,
    application_name: "casehound",
    connectionTimeoutMillis: connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // On a pipelined connection it ends the connection too, and with it whatever else waits there.
    query_timeout: silenceTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    options: "-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning",
    types: { getTypeParser },
  };
}

const timestamptz = 1184;
const int8 = 20;

// Times come as the wire writes them, so that no layer above has to know of dates.
function getTypeParser(oid: number, format?: "text" | "binary"): unknown {
  if (format !== "binary" && oid === timestamptz)
    return (value: string) => new Date(`${value.replace(" ", "T")}:00`).toISOString();
  if (format !== "binary" && oid === int8) return Number;
  return Reflect.apply(types.getTypeParser, types, [oid, format]);
}
