import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import {
  ServiceProcess,
  connectToFolder,
  freePort,
  killHard,
  processesOf,
  readDemo,
  readPostmaster,
} from "../../service/test/launch.ts";
import { ApiCaller } from "../writers/call.ts";
import { Ledger, audit } from "../writers/ledger.ts";
import { Writer } from "../writers/writer.ts";

const victims = ["the service", "PostgreSQL", "both"] as const;
export type Victim = (typeof victims)[number];
export type CrashFindings = { kills: Map<Victim, number>; ledger: Ledger; scored: number };

const writersMax = 6;
const underLoadMsMax = 400;
const backMs = 90_000;

// A service with its own PostgreSQL, as `npm start` runs it, under constant load and killed again and again.
export class CrashedService {
  readonly #folder = mkdtempSync(join(tmpdir(), "casehound-proof-"));
  readonly #random: Random;
  readonly #ledger = new Ledger();
  readonly #kills = new Map<Victim, number>();
  #port = 0;
  #service: ServiceProcess | null = null;
  #writers: Writer[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  async run(rounds: number, onRound: () => void): Promise<CrashFindings> {
    try {
      return await this.#run(rounds, onRound);
    } finally {
      this.#service?.signal("SIGKILL");
      await this.#service?.exited;
      for (const pid of processesOf(this.#folder)) killHard(pid);
      while (processesOf(this.#folder).length > 0) await sleep(20);
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async #run(rounds: number, onRound: () => void): Promise<CrashFindings> {
    this.#port = await freePort();
    await this.#start();
    const credentials = readDemo(this.#folder);
    const line = new ApiCaller(this.#port, credentials);
    await line.signIn();
    const { tenant_id: tenantId, app_key: appKey } = await this.#tenant(credentials.tenant);
    this.#writers = Array.from({ length: writersMax }, (_, index) => {
      const name = `writer-${index}`;
      return new Writer(name, { line, ledger: this.#ledger, random: this.#random.fork(name), appKey });
    });
    await Promise.all(this.#writers.map((writer) => writer.begin()));
    const stopping = new AbortController();
    const running = Promise.all(this.#writers.map((writer) => writer.run(stopping.signal)));
    for (let round = 0; round < rounds && this.#ledger.violations.length === 0; round++) {
      await this.#round();
      onRound();
    }
    stopping.abort();
    await running;
    return { kills: this.#kills, ledger: this.#ledger, scored: await this.#check(tenantId) };
  }

  async #start(): Promise<void> {
    const env = { DATA_DIR: this.#folder, PORT: String(this.#port), LOG_LEVEL: "silent" };
    this.#service = await new ServiceProcess(env).up();
  }

  async #tenant(slug: string): Promise<{ tenant_id: string; app_key: string }> {
    const client = await connectToFolder(this.#folder);
    const { rows } = await client.query<{ tenant_id: string; app_key: string }>(
      "select tenant_id, app_key from tenants where slug = $1",
      [slug],
    );
    await client.end();
    if (!rows[0]) throw new Error(`no tenant ${slug}`);
    return rows[0];
  }

  // One kill at a random moment under load. The round ends when every writer has made progress, so everything it had requested
  // has an outcome.
  async #round(): Promise<void> {
    const victim = this.#random.pick(victims);
    await this.#untilAllGetOn();
    await sleep(this.#random.between(0, underLoadMsMax));
    this.#kills.set(victim, (this.#kills.get(victim) ?? 0) + 1);
    if (victim !== "the service") killHard(readPostmaster(this.#folder).pid);
    if (victim !== "PostgreSQL") {
      this.#service?.signal("SIGKILL");
      await this.#service?.exited;
      await this.#start();
    }
    await this.#untilAllGetOn();
  }

  async #untilAllGetOn(): Promise<void> {
    const before = this.#writers.map(({ steps }) => steps);
    const deadline = Date.now() + backMs;
    while (!this.#writers.every(({ steps }, index) => steps > (before[index] ?? 0))) {
      if (Date.now() > deadline) throw new Error(`the service was not back ${backMs} ms after a kill`);
      await sleep(10);
    }
  }

  async #check(tenantId: string): Promise<number> {
    const client = await connectToFolder(this.#folder);
    const waiting = async () => (await client.query("select 1 from inbox limit 1")).rowCount !== 0;
    while (await waiting()) await sleep(50);
    const { scored } = await audit(this.#ledger, client, tenantId);
    await client.end();
    return scored;
  }
}
