import type { Client } from "pg";
import type { Database } from "./database.ts";
import { givenUp } from "./lane.ts";

const reconnectMs = 500;
// Whoever only listens does not see that nothing can be heard any more, so it asks.
const askMs = 5_000;
const silenceMs = 5_000;

type Options = {
  channels: string[];
  onNotice: (channel: string, payload: string) => void;
  onLost: () => void;
  onListening: () => void;
};

// Hears notices of the database on a connection of its own, and says so when it does not: what was remembered on the
// strength of the notices must then be forgotten.
export class Listener {
  readonly #database: Database;
  readonly #options: Options;
  #client: Client | null = null;
  #isStopped = false;
  // Goes up with every notice and every loss.
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
    // To listen once more changes nothing.
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
    if (!this.#isStopped) setTimeout(() => void this.#restart(), reconnectMs).unref();
  }

  async #restart(): Promise<void> {
    if (this.#isStopped || this.#client !== null) return;
    await this.start().catch(() => setTimeout(() => void this.#restart(), reconnectMs).unref());
  }
}
