import { AggregatorRegistry, Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";
import { RequestTimes } from "../api/http/request-times.ts";
import type { Snapshot } from "../api/metrics.ts";
import { StoreGauges } from "../api/store-gauges.ts";
import type { Queryable } from "../db/postgres/database.ts";

type Metric = Snapshot["metrics"][number];

// Gauges that are not sums. The slowest event loop is what delays requests, and each process has the limit of open files to itself.
const meanings: [name: RegExp, aggregator: Metric["aggregator"]][] = [
  [/_eventloop_lag_min_seconds$/, "min"],
  [/_eventloop_lag_/, "max"],
  [/_process_max_fds$/, "min"],
  [/_process_start_time_seconds$/, "min"],
];

// The metrics of the first process, with those of all workers added up.
export class SummedMetrics {
  readonly #registry = new Registry();
  readonly #store: StoreGauges;
  readonly #deaths = new Counter({
    name: "casehound_worker_deaths_total",
    help: "Workers that ended unexpectedly, by name",
    labelNames: ["worker"],
    registers: [this.#registry],
  });
  readonly #ready = new Gauge({ name: "casehound_workers_ready", help: "Workers that are ready", registers: [this.#registry] });
  // What workers had counted when they ended. Without it, counters would go down.
  #ended: Snapshot = { metrics: [], requests: [] };

  constructor(database: Queryable) {
    collectDefaultMetrics({ register: this.#registry, prefix: "casehound_" });
    this.#store = new StoreGauges(database, this.#registry);
  }

  expect(worker: string): void {
    this.#deaths.inc({ worker }, 0);
  }

  async observeDeath(worker: string, last: Snapshot | undefined): Promise<void> {
    this.#deaths.inc({ worker });
    if (!last) return;
    const counted = last.metrics.filter(({ type }) => ["counter", "histogram"].includes(String(type)));
    const both = sum([this.#ended.metrics, counted]);
    const times = new RequestTimes();
    times.add(this.#ended.requests);
    times.add(last.requests);
    this.#ended = { metrics: await both.getMetricsAsJSON(), requests: times.series() };
  }

  async text(workers: Snapshot[], ready: number): Promise<string> {
    this.#ready.set(ready);
    await this.#store.read();
    const all = [...workers, this.#ended];
    const times = new RequestTimes();
    for (const { requests } of all) times.add(requests);
    const summed = sum([await this.#registry.getMetricsAsJSON(), ...all.map(({ metrics }) => metrics)]);
    return `${await summed.metrics()}\n${times.text()}`;
  }
}

function sum(all: Metric[][]): Registry {
  const withMeanings = all.map((metrics) =>
    metrics.map((metric) => {
      const meaning = meanings.find(([name]) => name.test(metric.name));
      return meaning ? { ...metric, aggregator: meaning[1] } : metric;
    }),
  );
  return AggregatorRegistry.aggregate(withMeanings);
}
