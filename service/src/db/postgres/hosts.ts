import { setTimeout as sleep } from "node:timers/promises";
import type { ClientConfig } from "pg";
import { Semaphore } from "../../concurrency/semaphore.ts";
import { readServers, type Host, type Servers } from "./database-url.ts";
import { NoTurn, ReadOnlyServer, codeOf, isLost } from "./faults.ts";
import { SessionClient, type Limits, type Route } from "./session.ts";

// New connections cost the server a process each.
const opensMax = 4;
const pauseMs = { least: 50, most: 500 };
// A server that says nothing at all is given up sooner by the probe itself.
const waitMsMax = 5_000;
const limits: Limits = { lock_timeout: "2s", statement_timeout: "2s", idle_in_transaction_session_timeout: "10s" };

type Waiter = { needsWrites: boolean; resolve: () => void; reject: (error: unknown) => void };

export function serversOf(address: { connectionString: string } | { host: string; user: string; database: string }): Servers {
  if ("connectionString" in address) {
    const read = readServers(address.connectionString);
    if (typeof read === "string") throw new Error(`the address of the database ${read}`);
    return read;
  }
  const { host, user, database } = address;
  const url = `postgresql://${encodeURIComponent(user)}@/${encodeURIComponent(database)}?host=${encodeURIComponent(host)}`;
  return { hosts: [{ name: host, url }], isStrict: false };
}

// Knows which server to connect to. While none can be used, it asks each of them again and again, one connection at a time, and
// everybody else waits for that.
export class Hosts implements Route {
  readonly all: readonly Host[];
  readonly #isStrict: boolean;
  readonly #config: ClientConfig;
  // Called if connections must not be used any more. With `isOther`, another server has taken over.
  readonly #onMove: (isOther: boolean) => void;
  readonly #places = new Semaphore({ atOnceMax: opensMax, waitMsMax, refusal: () => new NoTurn() });
  readonly #faults = new Map<Host, unknown>();
  readonly #waiters = new Set<Waiter>();
  #current: Host;
  // Read-only: reads work, and nobody knows where writes would.
  #state: "fine" | "read-only" | "lost" = "fine";
  #search: AbortController | null = null;
  #isEnded = false;

  constructor({ hosts, isStrict }: Servers, config: ClientConfig, onMove: (isOther: boolean) => void) {
    const [first] = hosts;
    if (!first) throw new Error("the address of the database names no host");
    this.all = hosts;
    this.#current = first;
    this.#isStrict = isStrict;
    this.#config = config;
    this.#onMove = onMove;
  }

  get current(): Host {
    return this.#current;
  }

  get isFine(): boolean {
    return this.#state === "fine";
  }

  isAllowed(isReadOnly: boolean, needsWrites: boolean): boolean {
    return !isReadOnly || (!this.#isStrict && !needsWrites);
  }

  // Rejects once every server has failed, with what is wrong with each of them. After that it rejects at once until one is found.
  ready(needsWrites: boolean): Promise<void> {
    if (this.canServe(needsWrites)) return Promise.resolve();
    if (this.#faults.size === this.all.length) return Promise.reject(this.#fault());
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        how();
      };
      const timer = setTimeout(() => waiter.reject(this.#fault()), waitMsMax);
      const waiter: Waiter = {
        needsWrites,
        resolve: settle(resolve),
        reject: (error) => settle(() => reject(error))(),
      };
      this.#waiters.add(waiter);
      if (this.#isEnded) waiter.reject(new Error("the connection was closed"));
    });
  }

  open(work: () => Promise<void>): Promise<void> {
    return this.#places.run("", work);
  }

  failed(host: Host, error: unknown): void {
    if (error instanceof NoTurn || !isLost(error) || host !== this.#current || this.#state === "lost") return;
    this.#state = "lost";
    this.#seek();
  }

  // A server that accepted writes before may have become read-only, so its connections are left.
  foundReadOnly(host: Host): void {
    if (host !== this.#current || this.#state !== "fine") return;
    this.#state = this.#isStrict ? "lost" : "read-only";
    this.#onMove(false);
    this.#seek();
  }

  end(): void {
    this.#isEnded = true;
    this.#search?.abort();
    for (const waiter of this.#waiters) waiter.reject(new Error("the connection was closed"));
  }

  canServe(needsWrites: boolean): boolean {
    return this.#state === "fine" || (this.#state === "read-only" && !needsWrites);
  }

  #seek(): void {
    if (this.#search || this.#isEnded) return;
    const search = new AbortController();
    this.#faults.clear();
    this.#search = search;
    for (const host of this.all) void this.#ask(host, search.signal);
  }

  // Each server is asked in its own time, so one that does not answer delays no other.
  async #ask(host: Host, signal: AbortSignal): Promise<void> {
    for (let pause = pauseMs.least; !signal.aborted; pause = Math.min(pause * 2, pauseMs.most)) {
      const fault = await this.#probe(host);
      if (signal.aborted) return;
      if (fault === null) return this.#found(host);
      this.#failedAgain(host, fault);
      // Jitter, so that the processes do not all come at once.
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { ref: false, signal }).catch(() => {});
    }
  }

  // Returns why the server cannot be used for writes, or null.
  async #probe(host: Host): Promise<unknown> {
    const client = new SessionClient(host, { config: this.#config, limits });
    try {
      await client.connect();
      return client.isReadOnly ? new ReadOnlyServer(`${host.name} is read-only`) : null;
    } catch (error) {
      return error;
    } finally {
      void client.end().catch(() => {});
    }
  }

  #found(host: Host): void {
    const isOther = host !== this.#current;
    const mustLeave = isOther || this.#state === "read-only";
    this.#current = host;
    this.#state = "fine";
    this.#search?.abort();
    this.#search = null;
    if (mustLeave) this.#onMove(isOther);
    for (const waiter of this.#waiters) waiter.resolve();
  }

  #failedAgain(host: Host, fault: unknown): void {
    this.#faults.set(host, fault);
    if (!this.#isStrict && this.#state !== "fine") this.#state = fault instanceof ReadOnlyServer ? "read-only" : "lost";
    for (const waiter of this.#waiters) {
      if (this.canServe(waiter.needsWrites)) waiter.resolve();
      else if (this.#faults.size === this.all.length) waiter.reject(this.#fault());
    }
  }

  #fault(): unknown {
    if (this.all.length === 1) return this.#faults.get(this.#current) ?? new Error("timeout expired");
    const texts = this.all.map((host) => {
      const fault = this.#faults.get(host);
      const text = fault instanceof Error ? fault.message || codeOf(fault) : "no answer";
      return text.includes(host.name) ? text : `${host.name}: ${text}`;
    });
    return new NoServer(texts.join(", "), [...this.#faults.values()]);
  }
}

// None of several servers accepts writes.
export class NoServer extends Error {
  readonly errors: unknown[];

  constructor(faults: string, errors: unknown[]) {
    super(`no connection to a server that accepts writes: ${faults}`);
    this.errors = errors;
  }
}
