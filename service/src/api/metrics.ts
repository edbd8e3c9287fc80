import { Counter, Gauge, Registry, collectDefaultMetrics, type MetricObjectWithValues, type MetricValue } from "prom-client";
import type { Queryable } from "../db/postgres/database.ts";
import { keptReasons, type Rejection } from "../domain/quarantine.ts";
import type { LimitName } from "./http/limited.ts";
import { RequestTimes, type Series } from "./http/request-times.ts";
import { StoreGauges } from "./store-gauges.ts";
import type { AnswerKind } from "../domain/assessment.ts";

export type Collected = { accepted: number; duplicates: number; rejections: Rejection[] };

export type Snapshot = { metrics: MetricObjectWithValues<MetricValue<string>>[]; requests: Series[] };

// What this process counts, as Prometheus text.
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new RequestTimes();
  readonly #scored = new Counter({
    name: "casehound_activities_scored_total",
    help: "Activities scored by this process",
    registers: [this.#registry],
  });
  readonly #cases = new Counter({
    name: "casehound_case_changes_total",
    help: "Cases opened or joined by this process",
    labelNames: ["change"],
    registers: [this.#registry],
  });
  readonly #engine = new Gauge({
    name: "casehound_engine_last_pass_seconds",
    help: "When the engine last looked for work, as Unix time",
    aggregator: "max",
    registers: [this.#registry],
  });
  readonly #collected = new Counter({
    name: "casehound_collector_events_total",
    help: "Events that browsers sent, by result",
    labelNames: ["result"],
    registers: [this.#registry],
  });
  readonly #quarantined = new Counter({
    name: "casehound_quarantined_total",
    help: "Faults that the collector put into quarantine, by reason",
    labelNames: ["reason"],
    registers: [this.#registry],
  });
  readonly #limited = new Counter({
    name: "casehound_rate_limited_total",
    help: "Requests rejected because their sender sent too much, by limit",
    labelNames: ["limit"],
    registers: [this.#registry],
  });
  readonly #assessments = new Counter({
    name: "casehound_assessments_total",
    help: "Answers to assessments, by where they came from",
    labelNames: ["from"],
    registers: [this.#registry],
  });
  #store: StoreGauges | null = null;

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: "casehound_" });
  }

  observeRequest(operation: string, method: string, status: number, seconds: number): void {
    this.#requests.observe(operation, method, status, seconds);
  }

  observePass(pass: { scored: number; opened: number; joined: number }): void {
    this.#engine.set(Date.now() / 1000);
    this.#scored.inc(pass.scored);
    if (pass.opened > 0) this.#cases.inc({ change: "opened" }, pass.opened);
    if (pass.joined > 0) this.#cases.inc({ change: "joined" }, pass.joined);
  }

  observeCollected({ accepted, duplicates, rejections }: Collected): void {
    this.#collected.inc({ result: "accepted" }, accepted);
    this.#collected.inc({ result: "duplicate" }, duplicates);
    for (const { reason, count } of rejections) {
      this.#quarantined.inc({ reason }, count);
      if (!keptReasons.has(reason)) this.#collected.inc({ result: "quarantined" }, count);
    }
  }

  observeAssessment(from: AnswerKind): void {
    this.#assessments.inc({ from });
  }

  observeLimited(limit: LimitName): void {
    this.#limited.inc({ limit });
  }

  // From now on, the metrics include what waits in the database.
  watch(database: Queryable): void {
    this.#store = new StoreGauges(database, this.#registry);
  }

  // For the first process of several, which adds them up.
  async snapshot(): Promise<Snapshot> {
    return { metrics: await this.#registry.getMetricsAsJSON(), requests: this.#requests.series() };
  }

  async text(): Promise<string> {
    await this.#store?.read();
    return `${await this.#registry.metrics()}\n${this.#requests.text()}`;
  }
}
