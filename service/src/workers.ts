import type { Logger } from "pino";
import type { Metrics } from "./api/metrics.ts";
import { BacktestRunner } from "./engine/backtest.ts";
import type { Detector } from "./engine/detect.ts";
import { Expiry } from "./engine/expire.ts";
import { LabelWorker } from "./engine/labels.ts";
import { Engine } from "./engine/loop.ts";
import { RuleSets } from "./engine/rule-sets.ts";
import { TrainingRunner } from "./engine/training.ts";
import { WebhookSender } from "./engine/webhooks.ts";
import type { PostSettings } from "./webhook/post.ts";

type WorkerOptions = Omit<Detector, "ruleSets"> & {
  log: Logger;
  metrics: Metrics;
  retentionDays: number;
  webhooks: PostSettings;
};

// Starts the background work: detection, labels, backtests, models, webhooks, and the removal of expired data. Returns a function
// that stops it.
export function startWorkers({ log, metrics, retentionDays, webhooks, ...detector }: WorkerOptions): () => Promise<void> {
  const ruleSets = new RuleSets(
    ({ rule_id, rule_version }, fault) =>
      log.error({ err: fault, rule_id, rule_version }, "a rule cannot be compiled and is skipped until it is changed"),
    {
      onLimited: (tenant_id, rule_ids) =>
        log.warn({ tenant_id, rule_ids }, "the patterns of these rules take too long, so the rules are paused for five minutes"),
      onModelFault: (row, fault) =>
        log.error(
          { err: fault, model_id: row.model_id, moment: row.moment },
          "a model cannot be read, so the rules alone decide",
        ),
    },
  );
  const { database, clock } = detector;
  const workers = [
    new Engine({ detector: { ...detector, ruleSets }, log, onPass: (pass) => metrics.observePass(pass) }),
    new LabelWorker({ database, clock, log }),
    new BacktestRunner({ database, clock, log }),
    new TrainingRunner({ database, clock, log }),
    new WebhookSender({ database, clock, log, post: webhooks }),
    new Expiry({ database, clock, log, retentionDays }),
  ];
  for (const worker of workers) worker.start();
  return async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
  };
}
