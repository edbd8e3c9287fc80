import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Queryable } from "../db/postgres/database.ts";
import { readWaiting, type Waiting } from "../db/waiting.ts";

// By default, Prometheus allows a scrape ten seconds. A slower one looks like a process that is down.
const patienceMs = 5_000;

// What waits in the database, read at each scrape. Every process reports the same values, so aggregate them with max, never with
// sum. If the database is unreachable, they are NaN.
export class StoreGauges {
  readonly #database: Queryable;
  readonly #up: Gauge;
  readonly #unscored: Gauge;
  readonly #oldest: Gauge;
  readonly #oldestOfServers: Gauge;
  readonly #deliveries: Gauge<"state">;
  readonly #disabled: Gauge;
  readonly #limited: Gauge;
  readonly #drifted: Gauge;
  readonly #overdue: Gauge;
  readonly #mails: Gauge<"state">;

  constructor(database: Queryable, registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
    this.#database = database;
    this.#up = gauge("casehound_database_up", "Whether the database answered at this scrape");
    this.#unscored = gauge("casehound_unscored_activities", "Activities waiting to be scored");
    this.#oldest = gauge(
      "casehound_unscored_oldest_seconds",
      "How long the oldest unscored activity has waited; 0 if there is none",
    );
    this.#oldestOfServers = gauge(
      "casehound_unscored_server_oldest_seconds",
      "How long the oldest unscored activity from a server has waited; 0 if there is none",
    );
    this.#deliveries = new Gauge({
      name: "casehound_webhook_deliveries",
      help: "Webhook messages that are waiting for their receivers or were abandoned",
      labelNames: ["state"],
      registers: [registry],
    });
    this.#disabled = gauge(
      "casehound_webhooks_disabled",
      "Webhooks that were disabled because their receivers returned 410 (Gone)",
    );
    this.#limited = gauge("casehound_rules_limited", "Rules that are paused because their patterns take too long");
    this.#drifted = gauge("casehound_models_drifted", "Models that have drifted");
    this.#overdue = gauge("casehound_cases_overdue", "Open cases whose due time has passed");
    this.#mails = new Gauge({
      name: "casehound_notification_mails",
      help: "Notification e-mails that are waiting to be sent, or that the service stopped retrying in the last 30 days",
      labelNames: ["state"],
      registers: [registry],
    });
  }

  async read(): Promise<void> {
    const late = sleep(patienceMs, null, { ref: false });
    this.#set(await Promise.race([readWaiting(this.#database), late]).catch(() => null));
  }

  #set(found: Waiting | null): void {
    this.#up.set(found ? 1 : 0);
    this.#unscored.set(found?.unscored ?? Number.NaN);
    this.#oldest.set(found ? ageSeconds(found.oldest) : Number.NaN);
    this.#oldestOfServers.set(found ? ageSeconds(found.oldestOfServers) : Number.NaN);
    this.#deliveries.set({ state: "waiting" }, found?.deliveries.waiting ?? Number.NaN);
    this.#deliveries.set({ state: "dead" }, found?.deliveries.dead ?? Number.NaN);
    this.#disabled.set(found?.disabledWebhooks ?? Number.NaN);
    this.#limited.set(found?.limitedRules ?? Number.NaN);
    this.#drifted.set(found?.driftedModels ?? Number.NaN);
    this.#overdue.set(found?.overdueCases ?? Number.NaN);
    this.#mails.set({ state: "waiting" }, found?.mails.waiting ?? Number.NaN);
    this.#mails.set({ state: "dead" }, found?.mails.dead ?? Number.NaN);
  }
}

function ageSeconds(oldest: string | null): number {
  return oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000);
}
