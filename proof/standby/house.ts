import { randomUUID } from "node:crypto";
import type { Random } from "@casehound/simulator/random";
import { clock } from "../../service/src/clock.ts";
import { Database } from "../../service/src/db/postgres/database.ts";
import { migrate } from "../../service/src/db/postgres/migrate.ts";
import { createTenant } from "../../service/src/tenancy.ts";
import { ServiceProcess, type Environment } from "../../service/test/launch.ts";
import type { Ledger } from "../writers/ledger.ts";
import { Load, type WatchedCaller } from "../writers/load.ts";
import { Pair } from "./pair.ts";

// A service on a pair of servers, under load.
export class House {
  readonly pair: Pair;
  readonly database: Database;
  #service: ServiceProcess | null = null;
  #load: Load | null = null;

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

  get load(): Load {
    if (!this.#load) throw new Error("the service has not been started");
    return this.#load;
  }

  get caller(): WatchedCaller {
    return this.load.caller;
  }

  get ledger(): Ledger {
    return this.load.ledger;
  }

  get port(): number {
    return this.#service?.port ?? 0;
  }

  async start(env: Environment = {}): Promise<void> {
    const all = { DATABASE_URL: this.pair.url, LOG_LEVEL: "error", ...env };
    this.#service = await new ServiceProcess(all).up();
    this.#load = await Load.open(this.port, await createTenant(this.database, { slug: `t-${randomUUID()}` }, clock));
  }

  work(count: number, random: Random): Promise<void> {
    return this.load.work(count, random);
  }

  untilAllGetOn(): Promise<void> {
    return this.load.untilAllGetOn();
  }

  audited(): Promise<{ states: number; scored: number }> {
    return this.load.audited(this.database);
  }

  async close(): Promise<void> {
    this.#load?.stop();
    this.#service?.signal("SIGKILL");
    await this.#service?.exited;
    await this.database.end();
    await this.pair.close();
  }
}
