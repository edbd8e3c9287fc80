import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "pg";
import type { Random } from "@casehound/simulator/random";
import type { ServiceProcess } from "../../service/test/launch.ts";
import { SilentProxy } from "../../service/test/silent-proxy.ts";
import type { Findings, Scale } from "../part.ts";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { Ledger, audit } from "../writers/ledger.ts";
import { readHolding, type Holding } from "./holding.ts";
import { Crew } from "./crew.ts";
import { WatchedCaller } from "./watched-caller.ts";

const gauge = fileURLToPath(new URL("gauge.ts", import.meta.url));
const main = join(gauge, "../../../service/src/main.ts");
const writersMax = 6;
const casesWanted = { short: 200, full: 1_000 };

type Tenant = Awaited<ReturnType<Stand["tenant"]>>;
export type Figures = Findings["figures"];
// What is done to the service, and the figures it produced. `isShort` marks the cheap trials.
export type Trial = { name: string; isShort: boolean; run: (house: House) => Promise<Figures> };

// A service whose process reports what it holds, a database behind a proxy, and writers that work all the time.
export class House {
  readonly stand: Stand;
  readonly proxy: SilentProxy;
  readonly tenant: Tenant;
  readonly line: WatchedCaller;
  // For the trials' own requests, so they do not count as the writers'.
  readonly probe: ApiCaller;
  readonly ledger = new Ledger();
  readonly crew: Crew;
  readonly scale: Scale;
  readonly random: Random;
  // Bypasses the service, and is opened before any disturbance begins.
  readonly admin: Client;
  readonly #service: ServiceProcess;
  hasExited = false;

  private constructor(
    parts: Pick<House, "stand" | "proxy" | "tenant" | "scale" | "random" | "admin"> & { service: ServiceProcess },
  ) {
    this.stand = parts.stand;
    this.proxy = parts.proxy;
    this.tenant = parts.tenant;
    this.scale = parts.scale;
    this.random = parts.random;
    this.admin = parts.admin;
    this.#service = parts.service;
    void this.#service.exited.then(() => (this.hasExited = true));
    this.line = new WatchedCaller(this.port, this.tenant);
    this.probe = new ApiCaller(this.port, this.tenant);
    const { line, ledger, random } = this;
    this.crew = new Crew(writersMax, { line, ledger, random, appKey: this.tenant.app_key });
  }

  static async open(scale: Scale, random: Random): Promise<House> {
    const stand = await Stand.open();
    const { host, user, database } = stand.postgres.address;
    const proxy = await SilentProxy.open({ path: join(host, ".s.PGSQL.5432") });
    const tenant = await stand.tenant();
    const env = { DATABASE_URL: `postgresql://${user}@127.0.0.1:${proxy.port}/${database}`, LOG_LEVEL: "silent" };
    const service = await stand.start(env, [process.execPath, "--expose-gc", "--import", gauge, main]);
    const house = new House({ stand, proxy, tenant, scale, random, service, admin: await stand.database.connect() });
    await house.line.signIn();
    await house.probe.signIn();
    return house;
  }

  get port(): number {
    return this.#service.port;
  }

  // The head of a request below the tenant's path, for trials that write raw bytes.
  head(method: string, path: string, more: Record<string, string> = {}): string {
    const all = { host: `127.0.0.1:${this.port}`, authorization: `Bearer ${this.line.token}`, ...more };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} /v2/${this.tenant.tenant}${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  }

  // Makes a list of realistic length.
  async fillList(): Promise<void> {
    const activities = Array.from({ length: casesWanted[this.scale] }, (_, index) => ({
      activity_id: this.random.uuid(),
      type: "fraud_report",
      occurred_at: new Date().toISOString(),
      website_account_id: `listed-${index}`,
    }));
    const answer = await this.line.call({ method: "POST", path: "/activities", body: { activities } });
    if (answer?.status !== 202) throw new Error(`the list was not filled: ${answer?.status} ${answer?.text}`);
    for (const { activity_id } of activities) this.ledger.activities.add(activity_id);
    await this.stand.drained(this.tenant.tenant_id);
  }

  hold(): Promise<Holding> {
    return readHolding(this.#service, this.proxy.connections);
  }

  async audit(): Promise<Figures> {
    await this.stand.drained(this.tenant.tenant_id);
    const { states, scored } = await audit(this.ledger, this.admin, this.tenant.tenant_id);
    return { "states looked up": states, "activities scored, each once": scored };
  }

  // Waits until the condition holds. It is a violation if it does not hold in time.
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<boolean> {
    const deadline = Date.now() + limitMs;
    while (!(await holds())) {
      if (Date.now() > deadline) {
        this.ledger.violate(`${what}: not within ${limitMs / 1000} s`);
        return false;
      }
      await sleep(20);
    }
    return true;
  }

  async close(): Promise<void> {
    this.proxy.speak();
    await this.admin.end().catch(() => {});
    await this.stand.close();
    await this.proxy.close();
  }
}
