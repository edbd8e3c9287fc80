import { randomUUID } from "node:crypto";
import { claimRun } from "../service/src/db/model-runs.ts";
import type { CaseDocument } from "../service/src/domain/case.ts";
import type { dispositions } from "../service/src/domain/disposition.ts";
import type { Moment, NewLabel } from "../service/src/domain/label.ts";
import type { Model, ModelRun } from "../service/src/domain/model.ts";
import { applyLabels } from "../service/src/engine/labels.ts";
import { workRun } from "../service/src/engine/training.ts";
import { openLog } from "../service/src/log.ts";
import type { Opened, SimulatedService } from "./detection-service.ts";

const labelsMax = 1_000;
const closesMax = 500;
const leaseSeconds = 30;

export type TrainingRun = { seconds: number; cpuSeconds: number } & ({ model: Model } | { reason: string });

// A tenant that labels activities and trains models over the API. The engine's work is done here, at the times of the simulation.
export class TaughtTenant {
  readonly #service: SimulatedService;
  readonly #opened: Opened;

  constructor(service: SimulatedService, opened: Opened) {
    this.#service = service;
    this.#opened = opened;
  }

  async label(labels: readonly NewLabel[]): Promise<void> {
    for (let from = 0; from < labels.length; from += labelsMax) {
      const body = { labels: labels.slice(from, from + labelsMax) };
      const { not_found } = await this.call<{ not_found: number[] }>("POST", "/labels", body);
      if (not_found.length > 0) throw new Error(`${not_found.length} labels name no activity`);
    }
  }

  // Closes cases as the console does.
  async close(cases: readonly CaseDocument[], disposition: (typeof dispositions)[number]): Promise<void> {
    for (let from = 0; from < cases.length; from += closesMax) {
      const chosen = cases.slice(from, from + closesMax).map(({ case_id, case_version }) => ({ case_id, case_version }));
      const body = { cases: chosen, disposition, reason: "A simulated investigation." };
      const { results } = await this.call<{ results: { status: number }[] }>("POST", "/cases/close", body);
      if (results.some(({ status }) => status !== 200)) throw new Error("cases could not be closed");
    }
  }

  // Counts labels and the outcomes of cases, as the engine does in the background.
  async applyLabels(): Promise<void> {
    const { database, clock } = this.#service.inside;
    for (;;) {
      const applied = await applyLabels({ database, clock }, this.#opened.tenant_id, true);
      if (!applied || applied.labels + applied.outcomes === 0) return;
    }
  }

  // Trains a model on what is known now, and promotes it.
  async train(moment: Moment): Promise<TrainingRun> {
    const { database, clock } = this.#service.inside;
    await this.call("POST", "/models", { moment });
    const [beganMs, cpu] = [performance.now(), process.cpuUsage()];
    const claimed = await claimRun(database, leaseSeconds);
    if (!claimed) throw new Error("no training run is waiting");
    await workRun({ database, clock, log: openLog("error") }, claimed, new AbortController().signal);
    const { user, system } = process.cpuUsage(cpu);
    const cost = { seconds: (performance.now() - beganMs) / 1000, cpuSeconds: (user + system) / 1e6 };
    const { runs } = await this.call<{ runs: ModelRun[] }>("GET", "/models");
    const run = runs.find(({ run_id }) => run_id === claimed.run_id);
    if (run?.model_id === undefined) return { ...cost, reason: run?.reason ?? "The run failed." };
    return { ...cost, model: await this.call<Model>("POST", `/models/${run.model_id}/promote`) };
  }

  // A token may expire during a long run, and the service closes a connection that is idle while this process computes. So each
  // request may be sent twice, with the same key.
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const sent = { body, key: randomUUID() };
    const first = await this.#exchange(method, path, { ...sent, wasRefused: false }).catch(() => null);
    const { status, text } =
      first === null || first.status === 401
        ? await this.#exchange(method, path, { ...sent, wasRefused: first !== null })
        : first;
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
    // The response comes from our own service.
    return (JSON.parse(text) as { data: T }).data;
  }

  async #exchange(
    method: string,
    path: string,
    { body, key, wasRefused }: { body: object | undefined; key: string; wasRefused: boolean },
  ): Promise<{ status: number; text: string }> {
    const { baseUrl, tenant, token } = this.#opened.target;
    const authorization = `Bearer ${await token(wasRefused)}`;
    const headers = { authorization, "content-type": "application/json", "idempotency-key": key };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${baseUrl}/v2/${tenant}${path}`, { method, headers, ...given });
    return { status: response.status, text: await response.text() };
  }
}
