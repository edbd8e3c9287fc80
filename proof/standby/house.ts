import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import { clock } from "../../service/src/clock.ts";
import { Database } from "../../service/src/db/postgres/database.ts";
import { migrate } from "../../service/src/db/postgres/migrate.ts";
import { sql } from "../../service/src/db/postgres/sql.ts";
import { createTenant } from "../../service/src/tenancy.ts";
import { ServiceProcess, type Environment } from "../../service/test/launch.ts";
import { ApiCaller, typeOf, type Answer, type Request } from "../writers/call.ts";
import { Ledger, audit } from "../writers/ledger.ts";
import { Writer } from "../writers/writer.ts";
import { Pair } from "./pair.ts";

const pollMs = 10;
const backMsMax = 90_000;

// Notes when writes were acknowledged, and which answers should not have come.
export class WatchedCaller extends ApiCaller {
  readonly answers = new Map<string, number>();
  // When the last acknowledged write had been sent and was answered.
  last = { sentMs: 0, answeredMs: 0 };
  // The first acknowledged write that was sent after this time.
  #after: { sinceMs: number; found: PromiseWithResolvers<number> } | null = null;
  acknowledged = 0;

  override async call(request: Request): Promise<Answer | null> {
    const sentMs = performance.now();
    const answer = await super.call(request);
    this.#note(sentMs, request.method, answer);
    return answer;
  }

  // When the first write that was sent from now on has been acknowledged.
  firstWrite(): Promise<number> {
    const found = Promise.withResolvers<number>();
    this.#after = { sinceMs: performance.now(), found };
    return inTime(found.promise, "no write was acknowledged");
  }

  #note(sentMs: number, method: string, answer: Answer | null): void {
    const what = answer === null ? "no answer" : answer.status < 300 ? "done" : typeOf(answer);
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
    if (what !== "done" || method === "GET") return;
    this.acknowledged++;
    this.last = { sentMs, answeredMs: performance.now() };
    if (this.#after && sentMs >= this.#after.sinceMs) {
      this.#after.found.resolve(performance.now());
      this.#after = null;
    }
  }
}

// Otherwise a violation would keep the proof waiting.
function inTime<T>(wanted: Promise<T>, otherwise: string): Promise<T> {
  const timer = Promise.withResolvers<never>();
  const timeout = setTimeout(() => timer.reject(new Error(`${otherwise} within ${backMsMax} ms`)), backMsMax);
  return Promise.race([wanted, timer.promise]).finally(() => clearTimeout(timeout));
}

// A service on a pair of servers, under load.
export class House {
  readonly pair: Pair;
  readonly database: Database;
  readonly ledger = new Ledger();
  #service: ServiceProcess | null = null;
  #caller: WatchedCaller | null = null;
  tenantId = "";
  #appKey = "";
  readonly #stopping = new AbortController();
  #writers: Writer[] = [];
  #running: Promise<unknown> = Promise.resolve();

  private constructor(pair: Pair) {
    this.pair = pair;
    this.database = new Database({ connectionString: pair.url });
  }

  static async open(isSynchronous: boolean): Promise<House> {
    const house = new House(await Pair.open(isSynchronous));
    try {
      await migrate(house.database);
    } catch (error) {
      await house.close();
      throw error;
    }
    return house;
  }

  get caller(): WatchedCaller {
    if (!this.#caller) throw new Error("the service has not been started");
    return this.#caller;
  }

  get port(): number {
    return this.#service?.port ?? 0;
  }

  async start(env: Environment = {}): Promise<void> {
    const all = { DATABASE_URL: this.pair.url, LOG_LEVEL: "error", ...env };
    this.#service = await new ServiceProcess(all).up();
    const tenant = await createTenant(this.database, { slug: `t-${randomUUID()}` }, clock);
    this.tenantId = tenant.tenant_id;
    this.#caller = new WatchedCaller(this.port, tenant);
    await this.#caller.signIn();
    this.#appKey = tenant.app_key;
  }

  async work(count: number, random: Random): Promise<void> {
    this.#writers = Array.from({ length: count }, (_, index) => {
      const name = `writer-${index}`;
      return new Writer(name, { line: this.caller, ledger: this.ledger, random: random.fork(name), appKey: this.#appKey });
    });
    await Promise.all(this.#writers.map((writer) => writer.begin()));
    this.#running = Promise.all(this.#writers.map((writer) => writer.run(this.#stopping.signal)));
    // A failure is thrown by `audited`.
    this.#running.catch(() => {});
  }

  // Waits until every writer has finished something that it had begun before.
  async untilAllGetOn(): Promise<void> {
    const before = this.#writers.map(({ steps }) => steps);
    const deadline = Date.now() + backMsMax;
    while (!this.#writers.every(({ steps }, at) => steps > (before[at] ?? 0) + 1)) {
      if (Date.now() > deadline) throw new Error(`the writers were not back after ${backMsMax} ms`);
      await sleep(pollMs);
    }
  }

  // Stops the writers, waits until everything is scored, and compares the ledger with the database.
  async audited(): Promise<{ states: number; scored: number }> {
    this.#stopping.abort();
    await this.#running;
    const look = sql`select 1 as waiting from inbox where tenant_id = ${this.tenantId} limit 1`;
    const deadline = Date.now() + backMsMax;
    while ((await this.database.query(look)).length > 0) {
      if (Date.now() > deadline) throw new Error(`activities were not scored within ${backMsMax} ms`);
      await sleep(50);
    }
    const client = await this.database.connect();
    try {
      return await audit(this.ledger, client, this.tenantId);
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#service?.signal("SIGKILL");
    await this.#service?.exited;
    await this.database.end();
    await this.pair.close();
  }
}
