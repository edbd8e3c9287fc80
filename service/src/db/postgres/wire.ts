// How statements get to the database, and answers back. With the driver's own timer and promise for each statement, an answer
// would stay in memory until the next large collection.
import { Socket } from "node:net";
import { Query, type ClientBase, type Connection, type QueryResult } from "pg";
import type { Row, Statement } from "./sql.ts";

export const statementTimeoutMs = 10_000;
// The database ends a statement by itself before that: one that has said nothing then is out of reach, though nobody closed anything.
const silenceMs = statementTimeoutMs + 2_000;
export const silenceMessage = "The database has said nothing for too long.";

export function send<R extends Row>(client: ClientBase, { name, text, values }: Statement): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    const watch = watchOf(client);
    const query = new Query<R>(text, values, (error, result) => {
      watch.answered();
      if (error) reject(error);
      else resolve(result);
    });
    watch.asked(reject);
    client.query(Object.assign(query, { name }));
  });
}

const watches = new WeakMap<ClientBase, Watch>();

function watchOf(client: ClientBase): Watch {
  const known = watches.get(client);
  if (known) return known;
  // As the driver has it, though it does not tell its types.
  const watch = new Watch((client as ClientBase & { connection: Connection }).connection);
  watches.set(client, watch);
  return watch;
}

// Of one connection, which answers in the order in which it was asked. One that is silent for too long is given up, and with it
// all that waits there. There is one timer at the most, and it is left to run: statements are too many to set one for each.
class Watch {
  readonly #connection: Connection;
  readonly #waiting: ((error: Error) => void)[] = [];
  #heardMs = 0;
  #isWatching = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  asked(reject: (error: Error) => void): void {
    if (this.#waiting.push(reject) === 1) this.#heardMs = performance.now();
    if (!this.#isWatching) this.#look();
  }

  answered(): void {
    this.#waiting.shift();
    this.#heardMs = performance.now();
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

// All statements of one turn are one write to the system, for each write of its own wakes the database.
export class TurnSocket extends Socket {
  #isHeld = false;

  // The driver does so at the beginning of every statement.
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
