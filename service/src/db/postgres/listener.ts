import type { Client } from "pg";
import type { Database } from "./database.ts";
import { givenUp } from "./connections.ts";

// Jitter, so that the processes do not all come at once.
const reconnectMs = () => 250 + Math.random() * 250;
// A connection that only listens does not notice that it is dead, so it sends a statement regularly.
const askMs = 5_000;
const silenceMs = 5_000;

type Options = {
  channels: string[];
  onNotice: (channel: string, payload: string) => void;
  onLost: () => void;
  onListening: () => void;
};

// Receives notifications on its own connection, and reports when it cannot: anything cached on the strength of the notifications
// must then be dropped.
export class Listener {
  readonly #database: Database;
  readonly #options: Options;
  #client: Client | null = null;
  #isStopped = false;
  // Incremented with every notification and every lost connection.
  epoch = 0;

  constructor(database: Database, options: Options) {
    this.#database = database;
    this.#options = options;
  }

  get isListening(): boolean {
    return this.#client !== null;
  }

  async start(): Promise<void> {
    const client = await this.#database.connect({ silenceMs });
    client.on("notification", ({ channel, payload }) => {
      this.epoch++;
      this.#options.onNotice(channel, payload ?? "");
    });
    const listen = () => Promise.all(this.#options.channels.map((channel) => client.query(`listen ${channel}`)));
    try {
      await listen();
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    // Repeating LISTEN has no effect.
    const asking = setInterval(() => void listen().catch(() => {}), askMs).unref();
    client.on("end", () => {
      clearInterval(asking);
      this.#lost(client);
    });
    this.#client = client;
    this.epoch++;
    this.#options.onListening();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.race([this.#client?.end().catch(() => {}), givenUp()]);
  }

  #lost(client: Client): void {
    if (this.#client === client) this.#client = null;
    this.epoch++;
    this.#options.onLost();
    if (!this.#isStopped) setTimeout(() => void this.#restart(), reconnectMs()).unref();
  }

  async #restart(): Promise<void> {
    if (this.#isStopped || this.#client !== null) return;
    await this.start().catch(() => setTimeout(() => void this.#restart(), reconnectMs()).unref());
  }
}
