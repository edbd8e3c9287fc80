import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";
import type { Queryable } from "../db/postgres/database.ts";
import { Failure } from "../domain/failure.ts";
import { keptReasons, type Rejection } from "../domain/quarantine.ts";
import type { LimitName } from "./http/limited.ts";
import { problemReply } from "./http/problem.ts";
import { RequestTimes } from "./http/request-times.ts";
import { StoreGauges } from "./store-gauges.ts";
import type { AnswerKind } from "../domain/assessment.ts";

const connectionsMax = 64;

export type Collected = { accepted: number; duplicates: number; rejections: Rejection[] };

// Serves Prometheus text on its own port, which is not public.
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
  #server: Server | null = null;

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

  async text(): Promise<string> {
    await this.#store?.read();
    return `${await this.#registry.metrics()}\n${this.#requests.text()}`;
  }

  async listen(host: string, port: number): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response, host));
    server.maxConnections = connectionsMax;
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => resolve());
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse, ownHost: string): Promise<void> {
    const fault = faultOf(request, ownHost);
    const { status, body, headers } = fault
      ? problemReply(fault)
      : { status: 200, body: await this.text(), headers: { "content-type": this.#registry.contentType } };
    response.writeHead(status, headers).end(body);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
}

// A page in somebody's browser can resolve its own name to the address of this port (DNS rebinding). The browser would then let
// it read the metrics, but still sends the page's name as the host. An IP address cannot be rebound, so addresses are accepted.
function faultOf({ url, method, headers }: IncomingMessage, ownHost: string): Failure | null {
  const hostname = URL.parse(`http://${headers.host ?? ""}`)?.hostname ?? "";
  const isKnown = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || ["localhost", ownHost.toLowerCase()].includes(hostname);
  if (!isKnown) return new Failure("access-denied", "Use an IP address, localhost, or the name in METRICS_HOST as the host.");
  return url === "/metrics" && method === "GET" ? null : new Failure("item-not-found", "There is nothing at this path.");
}
