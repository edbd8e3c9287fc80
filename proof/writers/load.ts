import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { sql } from "../../service/src/db/postgres/sql.ts";
import type { createTenant } from "../../service/src/tenancy.ts";
import { ApiCaller, typeOf, type Answer, type Request } from "./call.ts";
import { Ledger, audit } from "./ledger.ts";
import { Writer } from "./writer.ts";

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

// A tenant's writers, and what was acknowledged to them.
export class Load {
  readonly tenantId: string;
  readonly caller: WatchedCaller;
  readonly ledger = new Ledger();
  readonly #appKey: string;
  readonly #stopping = new AbortController();
  #writers: Writer[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  private constructor(port: number, tenant: Awaited<ReturnType<typeof createTenant>>) {
    this.tenantId = tenant.tenant_id;
    this.#appKey = tenant.app_key;
    this.caller = new WatchedCaller(port, tenant);
  }

  static async open(port: number, tenant: Awaited<ReturnType<typeof createTenant>>): Promise<Load> {
    const load = new Load(port, tenant);
    await load.caller.signIn();
    return load;
  }

  async work(count: number, random: Random): Promise<void> {
    this.#writers = Array.from({ length: count }, (_, index) => {
      const name = `writer-${index}`;
      return new Writer(name, { line: this.caller, ledger: this.ledger, random: random.fork(name), appKey: this.#appKey });
    });
    await Promise.all(this.#writers.map((writer) => writer.begin()));
    this.#running = Promise.all(this.#writers.map((writer) => writer.run(this.#stopping.signal)));
    // `audited` throws it again.
    this.#running.catch((error: unknown) => (this.#failure = error));
  }

  // Waits until every writer has finished something that it had begun before.
  async untilAllGetOn(): Promise<void> {
    const before = this.#writers.map(({ steps }) => steps);
    const deadline = Date.now() + backMsMax;
    while (!this.#writers.every(({ steps }, at) => steps > (before[at] ?? 0) + 1)) {
      if (this.#failure !== undefined) throw this.#failure;
      if (Date.now() > deadline) throw new Error(`the writers were not back after ${backMsMax} ms`);
      await sleep(pollMs);
    }
  }

  // Stops the writers, waits until everything is scored, and compares the ledger with the database.
  async audited(database: Database): Promise<{ states: number; scored: number }> {
    this.stop();
    await this.#running;
    const look = sql`select 1 as waiting from inbox where tenant_id = ${this.tenantId} limit 1`;
    const deadline = Date.now() + backMsMax;
    while ((await database.query(look)).length > 0) {
      if (Date.now() > deadline) throw new Error(`activities were not scored within ${backMsMax} ms`);
      await sleep(50);
    }
    const client = await database.connect();
    try {
      return await audit(this.ledger, client, this.tenantId);
    } finally {
      await client.end();
    }
  }

  stop(): void {
    this.#stopping.abort();
  }
}
