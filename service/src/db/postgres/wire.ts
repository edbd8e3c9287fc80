// Sends statements to the database and receives the results. With the driver's own timer and promise per statement, a result
// would stay in memory until the next major garbage collection.
import { Socket, connect } from "node:net";
import { Query, type ClientBase, type Connection, type QueryResult } from "pg";
import type { Row, Statement } from "./sql.ts";

// PostgreSQL has reported the commit, but a synchronous standby or a cluster's node that must confirm it has not done so.
export class UnconfirmedCommit extends Error {}

// Where the notices about this come from. Their texts depend on the server's language, their places in the source do not.
const unconfirmedAt = new Set<string | undefined>(["SyncRepWaitForLSN", "FinishRemoteTransactionCommit"]);

export const statementTimeoutMs = 10_000;
// The database cancels a statement before this time. If it has sent nothing by then, it is unreachable although the connection is
// still open.
const silenceMs = statementTimeoutMs + 2_000;
const cancelMs = 3_000;
const cancelCode = 80_877_102;
export const silenceMessage = "The database has not responded for too long.";

export function send<R extends Row>(client: ClientBase, { name, text, values }: Statement): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    const watch = watchOf(client);
    const query = new Query<R>(text, values, (error, result) => {
      const isUnconfirmed = watch.answered();
      if (error) reject(error);
      else if (isUnconfirmed) reject(new UnconfirmedCommit("a standby or a node did not confirm the change"));
      else resolve(result);
    });
    watch.asked(reject);
    // The driver corks a prepared statement only, so BEGIN would be a write of its own.
    const { stream } = (client as Inner).connection;
    stream.cork();
    client.query(Object.assign(query, { name }));
    stream.uncork();
  });
}

const watches = new WeakMap<ClientBase, SilenceWatch>();

function watchOf(client: ClientBase): SilenceWatch {
  const known = watches.get(client);
  if (known) return known;
  const watch = new SilenceWatch(client as Inner);
  client.on("notice", (notice) => watch.noticed(notice));
  watches.set(client, watch);
  return watch;
}

// The driver has these properties, but its types do not declare them.
type Inner = ClientBase & { connection: Connection; host: string; port: number; processID: number; secretKey: number };

// Without this, a commit that waits for a synchronous standby would keep its place in PostgreSQL until the standby is back.
function cancel({ host, port, processID, secretKey }: Inner): void {
  const path = `${host}/.s.PGSQL.${port}`;
  const socket = connect(host.startsWith("/") ? { path } : { host, port });
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, cancelCode, processID, secretKey].entries()) request.writeInt32BE(value, at * 4);
  socket.on("error", () => {});
  socket.setTimeout(cancelMs, () => socket.destroy());
  socket.end(request);
}

// Watches one connection, which answers in order. If it is silent for too long, it is closed and every pending statement fails.
// There is at most one timer, and it is not cleared: there are too many statements to set one for each.
class SilenceWatch {
  readonly #client: Inner;
  readonly #waiting: ((error: Error) => void)[] = [];
  #heardMs = 0;
  #isWatching = false;
  #isUnconfirmed = false;

  constructor(client: Inner) {
    this.#client = client;
  }

  asked(reject: (error: Error) => void): void {
    if (this.#waiting.push(reject) === 1) this.#heardMs = performance.now();
    if (!this.#isWatching) this.#look();
  }

  // Returns whether PostgreSQL has stopped waiting for a confirmation.
  answered(): boolean {
    this.#waiting.shift();
    this.#heardMs = performance.now();
    const isUnconfirmed = this.#isUnconfirmed;
    this.#isUnconfirmed = false;
    return isUnconfirmed;
  }

  // A notice comes before the result of its statement.
  noticed({ routine }: { routine?: string | undefined }): void {
    if (unconfirmedAt.has(routine)) this.#isUnconfirmed = true;
  }

  #look(): void {
    const leftMs = this.#heardMs + silenceMs - performance.now();
    this.#isWatching = this.#waiting.length > 0 && leftMs > 0;
    if (this.#isWatching) setTimeout(() => this.#look(), leftMs).unref();
    else if (this.#waiting.length > 0) this.#giveUp();
  }

  #giveUp(): void {
    for (const reject of this.#waiting.splice(0)) reject(new Error(silenceMessage));
    cancel(this.#client);
    this.#client.connection.stream.destroy();
  }
}

// Sends all statements of one turn in a single system write, because every write wakes the database.
export class TurnSocket extends Socket {
  #isHeld = false;

  // Called at the beginning of every statement.
  override cork(): void {
    if (!this.#isHeld) {
      this.#isHeld = true;
      super.cork();
      process.nextTick(() => {
        this.#isHeld = false;
        this.uncork();
      });
    }
    super.cork();
  }
}
