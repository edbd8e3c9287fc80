import { DatabaseError, type Pool, type PoolClient } from "pg";
import { Failure } from "../../domain/failure.ts";
import { commit } from "./commit.ts";
import { RoleConnections, clientConfig, givenUp, sessionOf, unlimited, type DatabaseAddress } from "./connections.ts";
import {
  busy,
  codeOf,
  contended,
  isAway,
  isContended,
  lockTimeoutCode,
  readOnlyCode,
  throwFailure,
  toFailure,
  uncertain,
} from "./faults.ts";
import { Hosts, serversOf } from "./hosts.ts";
import { openSession, type SessionClient } from "./session.ts";
import { sql, unprepared, type Row, type Statement } from "./sql.ts";
import { OpenTransaction, type Queryable, type Transaction } from "./transaction.ts";
import { send } from "./wire.ts";

export type { Queryable, Row, Transaction };

// The database as one tenant's requests see it. With the tenant lock on, rows of other tenants are invisible.
export type TenantDatabase = Queryable & { transaction: Transact; tryOnce: Transact; alone: Queryable["query"] };
type Transact = <T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions) => Promise<T>;
// `keepsPlans`: each statement keeps one plan for all values. For statements that find rows by key: planning a small batch's
// statements anew took the database longer than running them.
type TransactionOptions = { keepsPlans?: boolean };
const keptPlans = "; set local plan_cache_mode = force_generic_plan";

type Attempt = { lane: RoleConnections; begin: string; isPatient: boolean };

const attemptsMax = 3;
const writersMaxDefault = 10;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Used directly, it sees every tenant. The engine, the collector, sign-in and the command line use it this way. Work for a single
// tenant goes through `forTenant`.
export class Database implements TenantDatabase {
  readonly #address: DatabaseAddress;
  readonly #writersMax: number;
  readonly hosts: Hosts;
  readonly #all: RoleConnections;
  #locked: RoleConnections | null = null;
  #role: string | null = null;
  #isEnded = false;
  #isCluster = false;

  constructor(address: DatabaseAddress, options: { writersMax?: number } = {}) {
    this.#address = address;
    this.#writersMax = options.writersMax ?? writersMaxDefault;
    this.hosts = new Hosts(serversOf(address), clientConfig, (isOther) => {
      for (const lane of [this.#all, this.#locked]) lane?.leave(isOther);
    });
    this.#all = new RoleConnections(this.hosts, { writersMax: this.#writersMax });
  }

  // For another thread of this process, which needs connections of its own.
  get address(): DatabaseAddress {
    return this.#address;
  }

  // From now on, work for a tenant runs under this role, to which the tables' policies apply.
  lockTenants(role: string): void {
    this.#role = role;
    this.#locked ??= new RoleConnections(this.hosts, { writersMax: this.#writersMax, role });
  }

  // From now on, statements are those for a cluster, and transactions also limit how long they wait for locks on its nodes.
  useCluster(): void {
    this.#isCluster = true;
  }

  get isCluster(): boolean {
    return this.#isCluster;
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
      isLocked: true,
      query: (statement) => this.#read(lane, statement, tenantId),
      transaction: (work, options) => this.#transact(lane, this.#withPlans(begin, options), work),
      tryOnce: (work, options) => this.#tryOnce(lane, this.#withPlans(begin, options), work),
      alone: (statement) => this.#alone(lane, begin, statement),
    };
  }

  query<R extends Row>(statement: Statement): Promise<R[]> {
    return this.#read(this.#all, statement, null);
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#transact(this.#all, this.#withPlans("begin", options), work);
  }

  tryOnce<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#tryOnce(this.#all, this.#withPlans("begin", options), work);
  }

  // A transaction of one statement in one round trip. Its plan is kept.
  alone<R extends Row>(statement: Statement): Promise<R[]> {
    return this.#alone(this.#all, "begin", statement);
  }

  // Sends one read down one of a few pipelined connections. If that connection is dead, retries once on a new one.
  async #read<R extends Row>(lane: RoleConnections, statement: Statement, tenantId: string | null): Promise<R[]> {
    const slot = lane.nextSlot();
    const reader = lane.reader(slot);
    try {
      return await (await reader).ask<R>(statement, tenantId);
    } catch (error) {
      if (!isAway(error) || this.#isEnded) throw toFailure(error);
      if (codeOf(error) === readOnlyCode) {
        lane.dropReader(slot, reader);
        this.hosts.foundReadOnly(this.hosts.current);
      }
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
    // Writes wait for the same search for a server.
    await this.hosts.ready(true).catch(throwFailure);
    await this.query(sql`select 1 as ready from service_settings where false for update`);
  }

  // Runs `work` in one transaction, all or nothing. If it loses a race in the database, it is run again, up to three times in
  // all, so `work` must have no effects outside the transaction.
  #transact<T>(lane: RoleConnections, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#repeat((isPatient) => this.#attempt({ lane, begin, isPatient }, work));
  }

  #alone<R extends Row>(lane: RoleConnections, begin: string, statement: Statement): Promise<R[]> {
    const attempt = { lane, begin: this.#withPlans(begin, { keepsPlans: true }) };
    return this.#repeat((isPatient) => this.#attemptAlone<R>({ ...attempt, isPatient }, statement));
  }

  async #repeat<T>(run: (isPatient: boolean) => Promise<T>): Promise<T> {
    let isPatient = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(isPatient);
      } catch (error) {
        const wasBrief: boolean = !isPatient && codeOf(error) === lockTimeoutCode;
        isPatient ||= wasBrief;
        if (wasBrief) continue;
        if (!isContended(error)) throw toFailure(error);
        if (attempt === attemptsMax) throw contended(error);
      }
    }
  }

  // Waits only briefly for locks and is not run again. For callers that have another way to do the work.
  async #tryOnce<T>(lane: RoleConnections, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt({ lane, begin, isPatient: false }, work);
    } catch (error) {
      throw isContended(error) ? contended(error) : toFailure(error);
    }
  }

  // A separate connection outside the pool, for LISTEN and for locks that outlive a transaction. Its statements have no time
  // limit unless one is given. A statement that exceeds the limit ends the connection.
  async connect({ role, silenceMs }: { role?: string; silenceMs?: number } = {}): Promise<SessionClient> {
    // On a pipelined connection, the driver's limit also ends the connection.
    const config = { ...clientConfig, query_timeout: silenceMs ?? 0, pipeline: silenceMs !== undefined };
    return openSession(this.hosts, { config, limits: unlimited, ...(role !== undefined && { role }) });
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.hosts.end();
    await Promise.race([Promise.all([this.#all.end(), this.#locked?.end()]), givenUp()]);
  }

  async #attempt<T>({ lane, begin, isPatient }: Attempt, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#lend(isPatient ? lane.waiters : lane.writers);
    let isBroken = true;
    const begun = this.#begin(client, begin);
    const tx = new OpenTransaction(client, { isPatient, isCluster: this.#isCluster, begun });
    try {
      const [result] = await Promise.all([work(tx), begun]);
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
      isBroken = !isAlive;
      if (codeOf(error) === readOnlyCode) {
        isBroken = true;
        this.hosts.foundReadOnly(sessionOf(client).server);
      }
      throw error instanceof Failure || !isAway(error) ? error : (sessionOf(client).ending ?? error);
    } finally {
      client.release(isBroken || sessionOf(client).isStale);
    }
  }

  // Sends everything at once. If BEGIN failed, the statement would still be a transaction by itself.
  async #attemptAlone<R extends Row>({ lane, begin, isPatient }: Attempt, statement: Statement): Promise<R[]> {
    const client = await this.#lend(isPatient ? lane.waiters : lane.writers);
    let isBroken = true;
    const [begun, answered, committed] = [this.#begin(client, begin), send<R>(client, statement), commit(client)];
    const settled = Promise.allSettled([begun, answered, committed]);
    try {
      const { rows } = await answered;
      await committed;
      isBroken = false;
      return rows;
    } catch (error) {
      isBroken = error instanceof Failure || isAway(error);
      if (codeOf(error) === readOnlyCode) this.hosts.foundReadOnly(sessionOf(client).server);
      // The commit was sent too, so without an answer from the database it may have been committed.
      throw error instanceof Failure || error instanceof DatabaseError ? error : uncertain(sessionOf(client).ending ?? error);
    } finally {
      await settled;
      client.release(isBroken || sessionOf(client).isStale);
    }
  }

  // A cluster's coordinator finds the node from the values, so it has to plan with them.
  #withPlans(begin: string, options: TransactionOptions | undefined): string {
    return options?.keepsPlans === true && !this.#isCluster ? begin + keptPlans : begin;
  }

  // The nodes of a cluster learn only of settings that a statement of its own makes inside the transaction.
  #begin(client: PoolClient, begin: string): Promise<unknown> {
    const begun = send(client, unprepared(begin));
    if (!this.#isCluster) return begun;
    return Promise.all([begun, send(client, unprepared(`set local lock_timeout = '${sessionOf(client).lockTimeout}'`))]);
  }

  // If the server has just been lost, waits once for another one, or until none is found.
  async #lend(pool: Pool): Promise<PoolClient> {
    for (let isAgain = false; ; isAgain = true) {
      try {
        // Nobody joins the pool's queue while nothing can be opened.
        if (!this.hosts.isFine && pool.idleCount === 0) await this.hosts.ready(true);
        return await pool.connect();
      } catch (error) {
        // Every connection is busy with writes that wait for locks. The database is reachable, and nothing was attempted.
        const hasTimedOut = /timeout exceeded/.test(String(error));
        if (hasTimedOut && this.hosts.isFine && pool.totalCount >= pool.options.max) throw busy(error);
        if (isAgain || this.#isEnded || this.hosts.isFine || hasTimedOut) throw error;
      }
    }
  }
}
