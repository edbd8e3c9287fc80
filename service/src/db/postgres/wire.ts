// Sends statements to the database and receives the results. With the driver's own timer and promise per statement, a result
// would stay in memory until the next major garbage collection.
import { Socket } from "node:net";
import { Query, type ClientBase, type Connection, type QueryResult } from "pg";
import type { Row, Statement } from "./sql.ts";

// PostgreSQL has committed the change, but a synchronous standby that must confirm it has not done so.
export class UnconfirmedCommit extends Error {}

export const statementTimeoutMs = 10_000;
// The database cancels a statement before this time. If it has sent nothing by then, it is unreachable although the connection is
// still open.
const silenceMs = statementTimeoutMs + 2_000;
export const silenceMessage = "The database has not responded for too long.";

export function send<R extends Row>(client: ClientBase, { name, text, values }: Statement): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    const watch = watchOf(client);
    const query = new Query<R>(text, values, (error, result) => {
      const isUnconfirmed = watch.answered();
      if (error) reject(error);
      else if (isUnconfirmed) reject(new UnconfirmedCommit("the synchronous standby did not confirm the change"));
      else resolve(result);
    });
    watch.asked(reject);
    client.query(Object.assign(query, { name }));
  });
}

const watches = new WeakMap<ClientBase, SilenceWatch>();

function watchOf(client: ClientBase): SilenceWatch {
  const known = watches.get(client);
  if (known) return known;
  // The driver has this property, but its types do not declare it.
  const watch = new SilenceWatch((client as ClientBase & { connection: Connection }).connection);
  client.on("notice", (notice) => watch.noticed(notice));
  watches.set(client, watch);
  return watch;
}

// Watches one connection, which answers in order. If it is silent for too long, it is closed and every pending statement fails.
// There is at most one timer, and it is not cleared: there are too many statements to set one for each.
class SilenceWatch {
  readonly #connection: Connection;
  readonly #waiting: ((error: Error) => void)[] = [];
  #heardMs = 0;
  #isWatching = false;
  #isUnconfirmed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  asked(reject: (error: Error) => void): void {
    if (this.#waiting.push(reject) === 1) this.#heardMs = performance.now();
    if (!this.#isWatching) this.#look();
  }

  // Returns whether PostgreSQL has stopped waiting for a synchronous standby.
  answered(): boolean {
    this.#waiting.shift();
    this.#heardMs = performance.now();
    const isUnconfirmed = this.#isUnconfirmed;
    this.#isUnconfirmed = false;
    return isUnconfirmed;
  }

  // A notice comes before the result of its statement. Its text depends on the server's language, its place in the source does
  // not.
  noticed({ routine }: { routine?: string | undefined }): void {
    if (routine === "SyncRepWaitForLSN") this.#isUnconfirmed = true;
  }

  #look(): void {
    const leftMs = this.#heardMs + silenceMs - performance.now();
    this.#isWatching = this.#waiting.length > 0 && leftMs > 0;
    if (this.#isWatching) setTimeout(() => this.#look(), leftMs).unref();
    else if (this.#waiting.length > 0) this.#giveUp();
  }

  #giveUp(): void {
    for (const reject of this.#waiting.splice(0)) reject(new Error(silenceMessage));
    this.#connection.stream.destroy();
  }
}

// Sends all statements of one turn in a single system write, because every write wakes the database.
export class TurnSocket extends Socket {
  #isHeld = false;

  // The driver calls this at the beginning of every statement.
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
