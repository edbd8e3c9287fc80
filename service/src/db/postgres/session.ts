import { Client, escapeIdentifier, type ClientConfig } from "pg";
import { NoTurn, ReadOnlyServer, isLost } from "./faults.ts";
import type { Host } from "./database-url.ts";

const connectTimeoutMs = 3_000;

// The time limits of a connection, in the form in which PostgreSQL shows them.
export type Limits = { lock_timeout: string; statement_timeout: string; idle_in_transaction_session_timeout: string };
export type SessionOptions = { config: ClientConfig; limits: Limits; role?: string; needsWrites?: boolean };

// A pooler between the service and PostgreSQL does not keep a session together.
export class PoolerFault extends Error {}

// What a connection asks before it opens, and what it reports.
export type Route = {
  readonly current: Host;
  canServe: (needsWrites: boolean) => boolean;
  // Rejects if no server can be used.
  ready: (needsWrites: boolean) => Promise<void>;
  // Limits how many connections open at once.
  open: (work: () => Promise<void>) => Promise<void>;
  isAllowed: (isReadOnly: boolean, needsWrites: boolean) => boolean;
  failed: (host: Host, error: unknown) => void;
  foundReadOnly: (host: Host) => void;
};

// A prepared statement keeps its plan until the statistics change. Planned while a table was nearly empty, it would scan the
// whole table for a minute while thousands of rows come in. Every frequent statement has an index, so sequential scans are turned
// off.
const planning = { enable_seqscan: "off", jit: "off" };
const settings = { TimeZone: "UTC", DateStyle: "ISO, MDY", client_min_messages: "warning", ...planning };

type Seen = { pid: number; is_read_only: boolean; shown: Record<string, string> };

// One connection whose settings are made after it has opened, because poolers drop or refuse them in the start-up message. They
// are read back: with other settings, times would be wrong and statements would have no limit.
export class SessionClient extends Client {
  readonly server: Host;
  // Set when it opens.
  isReadOnly = false;
  isPooled = false;
  // Used by a transaction at this moment.
  isLent = false;
  // Must not be used again.
  isStale = false;
  // Why it was closed between two statements, such as by a timeout. The next statement's own error says only that the connection
  // is gone.
  ending: Error | undefined;
  readonly #options: SessionOptions;
  readonly #route: Route | null;

  // Without a route, it connects to the host whatever state that is in.
  constructor(to: Route | Host, options: SessionOptions) {
    const route = "url" in to ? null : to;
    const host = "url" in to ? to : to.current;
    super({ ...options.config, connectionString: host.url, connectionTimeoutMillis: connectTimeoutMs });
    this.server = host;
    this.#route = route;
    this.#options = options;
    // Without a listener, the error would end the process. If the connection breaks while in use, its query fails.
    this.on("error", (error) => (this.ending ??= error));
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    const opening = this.#open().then(() => this);
    if (!callback) return opening;
    // The driver's own success has no error either. Outside of the promise, because what the callback throws is not a failure to
    // connect.
    opening.then(
      () => setImmediate(callback as () => void),
      (error: Error) => setImmediate(callback, error),
    );
  }

  get lockTimeout(): string {
    return this.#options.limits.lock_timeout;
  }

  // Ends it at once, whatever it is doing.
  cut(): void {
    this.isStale = true;
    streamOf(this).destroy();
  }

  async #open(): Promise<void> {
    const route = this.#route;
    const { needsWrites = false } = this.#options;
    if (!route) return this.#start();
    await route.ready(needsWrites);
    if (route.current !== this.server) throw new Error("another server took over");
    try {
      await route.open(() => {
        // It may have been lost while this waited for its place.
        if (!route.canServe(needsWrites)) throw new NoTurn();
        return this.#start();
      });
    } catch (error) {
      route.failed(this.server, error);
      throw error;
    }
    if (this.isReadOnly) route.foundReadOnly(this.server);
    if (route.isAllowed(this.isReadOnly, needsWrites)) return;
    this.cut();
    throw new ReadOnlyServer(`${this.server.name} is read-only`);
  }

  async #start(): Promise<void> {
    // The pool may have given up waiting for a place.
    if (streamOf(this).destroyed) throw new NoTurn();
    const timer = setTimeout(() => this.cut(), connectTimeoutMs);
    try {
      await super.connect();
      await this.#prepare();
    } catch (error) {
      this.cut();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #prepare(): Promise<void> {
    const { limits, role } = this.#options;
    const wanted: Record<string, string> = { ...settings, ...limits, ...(role !== undefined && { role }) };
    const asRole = role === undefined ? "" : `set role ${escapeIdentifier(role)}`;
    const sets = Object.entries({ ...settings, ...limits }).map(([name, value]) => `set ${name} = '${value}'`);
    await this.query(`${sets.join("; ").replace("'ISO, MDY'", "iso, mdy")}; ${asRole}`);
    const shown = Object.keys(wanted).map((name) => `'${name}', current_setting('${name}')`);
    const { rows } = await this.query<Seen>(
      `select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as is_read_only, json_build_object(${shown.join(", ")}) as shown`,
    );
    const [seen] = rows;
    if (!seen) throw new Error("the connection did not return its settings");
    const wrong = Object.entries(wanted).find(([name, value]) => seen.shown[name] !== value);
    if (wrong)
      throw new PoolerFault(
        `DATABASE_URL: a connection has ${wrong[0]} ${seen.shown[wrong[0]]} although it was set to ${wrong[1]}: ${sessionAdvice}`,
      );
    this.isReadOnly = seen.is_read_only;
    // A pooler gives a number of its own.
    this.isPooled = processIdOf(this) !== seen.pid;
  }
}

// If its server turns out to be lost, waits for another one and tries once more.
export async function openSession(route: Route, options: SessionOptions): Promise<SessionClient> {
  for (let isAgain = false; ; isAgain = true) {
    await route.ready(options.needsWrites ?? false);
    const client = new SessionClient(route, options);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (isAgain || !isLost(error)) throw error;
    }
  }
}

export const sessionAdvice =
  "a pooler must give each connection a server of its own until it ends, so set pool_mode = session for this connection";

// The driver has these, but its types do not declare them.
type Inner = { connection: { stream: { destroyed: boolean; destroy: () => void } }; processID: number | null };

function streamOf(client: Client): Inner["connection"]["stream"] {
  return (client as unknown as Inner).connection.stream;
}

function processIdOf(client: Client): number | null {
  return (client as unknown as Inner).processID;
}
