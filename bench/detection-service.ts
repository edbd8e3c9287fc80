import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../service/src/config.ts";
import { makePartition } from "../service/src/db/activities.ts";
import type { Database } from "../service/src/db/postgres/database.ts";
import { sql } from "../service/src/db/postgres/sql.ts";
import { demoEnrichment } from "../service/src/demo.ts";
import type { CaseDocument } from "../service/src/domain/case.ts";
import { uuidV7 } from "../service/src/domain/uuid.ts";
import { BacktestRunner } from "../service/src/engine/backtest.ts";
import { openLog } from "../service/src/log.ts";
import type { Clock } from "../service/src/engine/cases.ts";
import { detectBatch, type Detector } from "../service/src/engine/detect.ts";
import { RuleSets } from "../service/src/engine/rule-sets.ts";
import { startService, type Service } from "../service/src/service.ts";
import { clientTokens, deliver, type CourierTarget } from "@casehound/simulator/courier";
import { eventsIn, isSent, type Delivery, type FraudTruth, type Sent, type SessionTruth } from "@casehound/simulator/delivery";
import type { Voice } from "@casehound/simulator/voice";
import { createTenant } from "../service/src/tenancy.ts";
import { readDecided, type Decided, type StoredActivity } from "./detection-decided.ts";
import { dayMs, shopTimeline, type Period } from "./detection-shop.ts";

export const origin = "https://shop.example";
// The engine runs when this many events wait, or when this much simulated time has passed. It decides by the times of the events.
const waitingMax = 400;
const sliceMs = 2 * 3_600_000;
// The requests of one volley are in flight together, and are received at the time of its last one.
const volleyMs = 3_000;
const volleyMax = 50;
const batchSize = 500;
// Fraud reports arrive weeks after the end.
const reportDays = 60;

// An activity that opened a case or joined one.
export type CasedActivity = {
  activity_id: string;
  session_id: string | null;
  website_account_id: string | null;
  case_id: string;
  received_at: string;
};

export type Shop = { seed: string; users: number; voice?: Voice };
export type Opened = Awaited<ReturnType<typeof createTenant>> & { target: CourierTarget };
// What others do meanwhile, every few hours of simulated time.
type Meanwhile = (opened: Opened) => Promise<void>;
type Truth = { truths: SessionTruth[]; frauds: FraudTruth[] };
type Lived = Truth & { requests: number; events: number };
export type Simulated = Lived & { decided: Decided[]; labelOf: (caseId: string) => string | undefined };
export type Progress = (line: string) => void;

// Follows the times of the deliveries until it is switched to real time.
class VirtualClock {
  atMs = 0;
  isReal = false;
  now = (): string => new Date(this.isReal ? Date.now() : this.atMs).toISOString();
  newId = (at?: string): string => uuidV7(Date.parse(at ?? this.now()), randomBytes(10));
}

// A separate service on its own PostgreSQL. Collector, API and engine are real; only the time is simulated.
export class SimulatedService {
  readonly #service: Service;
  readonly #clock: VirtualClock;
  readonly #detector: Detector;
  readonly #folder: string;
  #backtests: BacktestRunner | null = null;

  private constructor(service: Service, clock: VirtualClock, detector: Detector, folder: string) {
    this.#service = service;
    this.#clock = clock;
    this.#detector = detector;
    this.#folder = folder;
  }

  static async start({ startMs, endMs }: Period): Promise<SimulatedService> {
    const folder = mkdtempSync(join(tmpdir(), "casehound-detection-"));
    const clock = new VirtualClock();
    clock.atMs = startMs;
    const enrichment = demoEnrichment(startMs);
    const settings = { DATA_DIR: folder, PORT: "0", ROLES: "api,collector", METRICS_PORT: "off", LOG_LEVEL: "error" };
    // The simulation sends weeks of events within minutes of real time, which would exceed the quotas.
    const unlimited = { events: null, names: null };
    const config = { ...readConfig(settings), collectorQuotas: { address: unlimited, key: unlimited } };
    const service = await startService(config, undefined, { clock, enrichment });
    const { database } = service;
    for (let atMs = startMs; atMs < endMs + reportDays * dayMs; atMs += dayMs) {
      await database.transaction((tx) => makePartition(tx, new Date(atMs).toISOString().slice(0, 10)));
    }
    const ruleSets = new RuleSets((rule, fault) => {
      throw new Error(`the rule ${rule.rule_id} does not compile`, { cause: fault });
    });
    return new SimulatedService(service, clock, { database, clock, enrichment, ruleSets }, folder);
  }

  async stop(): Promise<void> {
    await this.#backtests?.stop();
    await this.#service.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // The simulation's time.
  get nowMs(): number {
    return this.#clock.atMs;
  }

  set nowMs(atMs: number) {
    this.#clock.atMs = atMs;
  }

  // The service without its background work, which a benchmark does itself, at the times of the simulation.
  get inside(): { database: Database; clock: Clock; folder: string } {
    const { database, clock } = this.#detector;
    return { database, clock, folder: this.#folder };
  }

  get url(): string {
    return this.#service.url;
  }

  async open(period: Period, slug = `shop-${randomUUID()}`): Promise<Opened> {
    const { database, url: baseUrl } = this.#service;
    this.#clock.atMs = period.startMs;
    const made = await createTenant(database, { slug, allowedOrigins: [origin] }, this.#clock);
    const token = clientTokens({ baseUrl, clientId: made.client_id, clientSecret: made.client_secret });
    return { ...made, target: { baseUrl, tenant: slug, token } };
  }

  // Runs a shop from its first day to its last, as a separate tenant.
  async run(
    { kind, ...shop }: Omit<Shop, "voice"> & { kind: Voice["kind"] },
    period: Period,
    onProgress: Progress,
  ): Promise<Simulated> {
    const opened = await this.open(period);
    const voice = await this.voiceOf(opened, kind);
    const lived = await this.live(opened, { ...shop, voice, period, onProgress });
    return { ...lived, ...(await this.read(opened.tenant_id, period)) };
  }

  async voiceOf({ target }: Opened, kind: Voice["kind"]): Promise<Voice> {
    if (kind !== "signed") return { kind };
    const headers = { authorization: `Bearer ${await target.token(false)}` };
    const response = await fetch(`${this.url}/v2/${target.tenant}/tenants/identity/secrets`, { method: "POST", headers });
    if (response.status !== 201)
      throw new Error(`the identity secret could not be created: ${response.status} ${await response.text()}`);
    // The response comes from our own service.
    const { data } = (await response.json()) as { data: { secret: string } };
    return { kind, secret: data.secret };
  }

  // Switches to real time and starts the runner of backtests.
  letGo(): void {
    this.#clock.isReal = true;
    const { database, clock } = this.#detector;
    this.#backtests = new BacktestRunner({ database, clock, log: openLog("error") });
    this.#backtests.start();
  }

  async live(
    opened: Opened,
    shop: Shop & { period: Period; onProgress: Progress; untilMs?: number; meanwhile?: Meanwhile },
  ): Promise<Lived> {
    return this.bring(opened, shopTimeline({ ...shop, appKey: opened.app_key, origin }), shop);
  }

  // Sends deliveries at their simulated times, and runs detection as they arrive.
  async bring(
    opened: Opened,
    deliveries: Iterable<Delivery>,
    shop: { seed: string; onProgress: Progress; untilMs?: number; meanwhile?: Meanwhile; everyMs?: number },
  ): Promise<Lived> {
    const { seed, onProgress, untilMs = Number.POSITIVE_INFINITY, everyMs = sliceMs } = shop;
    const truth: Truth = { truths: [], frauds: [] };
    const sent = { requests: 0, events: 0 };
    let [sliceEndsMs, detected, day] = [0, 0, ""];
    for (const volley of volleys(deliveries, truth)) {
      const atMs = volley.at(-1)?.at_ms ?? 0;
      if (atMs > untilMs) break;
      const isLater = atMs >= sliceEndsMs;
      if (isLater || sent.events >= detected + waitingMax) {
        await this.detect(opened.tenant_id);
        detected = sent.events;
      }
      // A busy shop is scored more often than this.
      if (isLater) {
        await shop.meanwhile?.(opened);
        sliceEndsMs = atMs + everyMs;
      }
      await this.#send(volley, opened.target, sent);
      if (this.#clock.now().slice(0, 10) !== day) {
        day = this.#clock.now().slice(0, 10);
        onProgress(`${seed}: ${day}, ${sent.events} events in ${sent.requests} requests`);
      }
    }
    await this.detect(opened.tenant_id);
    return { ...truth, ...sent };
  }

  async #send(volley: Sent[], target: CourierTarget, sent: { requests: number; events: number }): Promise<void> {
    this.#clock.atMs = Math.round(volley.at(-1)?.at_ms ?? this.#clock.atMs);
    const tally = await deliver(volley, target);
    if (tally.refused > 0) throw new Error(`the service rejected a delivery: ${tally.problem}`);
    sent.requests += volley.length;
    sent.events += volley.reduce((sum, delivery) => sum + eventsIn(delivery), 0);
  }

  async detect(tenantId: string, size = batchSize): Promise<void> {
    for (;;) {
      const pass = await detectBatch(this.#detector, tenantId, { size });
      if (pass === null) throw new Error("another engine has the tenant");
      if (pass.scored === 0) return;
    }
  }

  async read(tenantId: string, { measuredMs, endMs }: Period): Promise<Pick<Simulated, "decided" | "labelOf">> {
    const { database } = this.#service;
    const decided: Decided[] = [];
    for (let atMs = measuredMs; atMs < endMs + reportDays * dayMs; atMs += dayMs) {
      const [from, until] = [new Date(atMs).toISOString(), new Date(atMs + dayMs).toISOString()];
      const rows = await database.query<StoredActivity>(sql`
        select received_at, type, website_account_id, session_id, case_id, decision
        from activities
        where tenant_id = ${tenantId} and received_at >= ${from} and received_at < ${until}
        order by received_at, occurred_at`);
      for (const row of rows) decided.push(readDecided(row));
    }
    const cases = await this.cases(tenantId);
    const labels = new Map(cases.map(({ case_id, details }) => [case_id, details.primary_fraud_label]));
    return { decided, labelOf: (id) => labels.get(id) };
  }

  async activitiesInCases(tenantId: string): Promise<CasedActivity[]> {
    return this.#service.database.query<CasedActivity>(sql`
      select activity_id, session_id, website_account_id, case_id, received_at
      from activities
      where tenant_id = ${tenantId} and case_id is not null
      order by received_at, occurred_at`);
  }

  async cases(tenantId: string): Promise<CaseDocument[]> {
    const rows = await this.#service.database.query<{ document: string }>(sql`
      select document
      from cases
      where tenant_id = ${tenantId}`);
    // Only the engine writes this.
    return rows.map(({ document }) => JSON.parse(document) as CaseDocument);
  }
}

// Groups deliveries that arrive within moments of each other. The ground truth is set aside.
function* volleys(deliveries: Iterable<Delivery>, { truths, frauds }: Truth): Generator<Sent[]> {
  let volley: Sent[] = [];
  for (const delivery of deliveries) {
    if (delivery.kind === "truth") truths.push(delivery.session);
    if (delivery.kind === "fraud") frauds.push(delivery.fraud);
    if (!isSent(delivery)) continue;
    const [first] = volley;
    if (first !== undefined && (delivery.at_ms > first.at_ms + volleyMs || volley.length >= volleyMax)) {
      yield volley;
      volley = [];
    }
    volley.push(delivery);
  }
  if (volley.length > 0) yield volley;
}
