import type { Logger } from "pino";
import type { Metrics } from "./api/metrics.ts";
import type { Config } from "./config.ts";
import { Assessor } from "./engine/assessor.ts";
import { BacktestRunner } from "./engine/backtest.ts";
import { BatchTurns } from "./engine/batch-turns.ts";
import { BriefBatches } from "./engine/brief-batches.ts";
import type { Detector, Pass } from "./engine/detect.ts";
import { Expiry } from "./engine/expire.ts";
import { ChatSender } from "./engine/chat-webhooks.ts";
import { LabelWorker } from "./engine/labels.ts";
import { Engine } from "./engine/loop.ts";
import { NotificationSender } from "./engine/notifications.ts";
import { OverdueWorker } from "./engine/overdue.ts";
import { RuleSets } from "./engine/rule-sets.ts";
import { TrainingRunner } from "./engine/training.ts";
import { UrgentLane } from "./engine/urgent-lane.ts";
import { Verdicts } from "./engine/verdicts.ts";
import { WebhookSender } from "./engine/webhooks.ts";
import { Mailer } from "./mail/mailer.ts";
import { RuleUpgrades } from "./rule-upgrades.ts";
import type { PostSettings } from "./webhook/post.ts";

type Parts = Omit<Detector, "ruleSets" | "verdicts" | "brief"> & { log: Logger; metrics: Metrics; webhooks: PostSettings };

// Starts what answers assessments, and the background work if this process has the role `engine`. Without it, the engine of
// another process gives the verdicts.
export async function startDetection(
  { roles, retentionDays, mail, publicUrl }: Config,
  { log, metrics, webhooks, ...parts }: Parts,
): Promise<{ assessor: Assessor; stop: () => Promise<void> }> {
  const verdicts = new Verdicts();
  const detector = { ...parts, ruleSets: newRuleSets(log), verdicts, brief: new BriefBatches() };
  const workers = roles.has("engine")
    ? startWorkers({ ...detector, log, metrics, retentionDays, webhooks, mail, publicUrl })
    : null;
  const wake = workers && ((tenantId: string) => workers.lane.wake(tenantId));
  const assessor = new Assessor({ detector, log, wake, onAnswer: (kind) => metrics.observeAssessment(kind) });
  const stop = async () => {
    await assessor.stop();
    await workers?.stop();
  };
  try {
    if (workers ?? roles.has("api")) await assessor.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { assessor, stop };
}

function newRuleSets(log: Logger): RuleSets {
  return new RuleSets(
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
}

type WorkerOptions = Detector & { log: Logger; metrics: Metrics; webhooks: PostSettings } & Pick<
    Config,
    "retentionDays" | "mail" | "publicUrl"
  >;

// Starts detection, labels, backtests, models, webhooks, and the removal of expired data.
function startWorkers({ log, metrics, retentionDays, webhooks, mail, publicUrl, ...detector }: WorkerOptions) {
  const { database, clock } = detector;
  const turns = new BatchTurns();
  const onPass = (pass: Pass) => metrics.observePass(pass);
  const onUrgentPass = (pass: Pass) => {
    onPass(pass);
    engine.noteScored(pass.scored);
  };
  const lane = new UrgentLane({ detector, log, onPass: onUrgentPass, turns, onLeft: () => engine.wake() });
  const engine = new Engine({ detector, log, onPass, turns, isCovered: (tenantId) => lane.isCovering(tenantId) });
  const workers = [
    engine,
    new LabelWorker({ database, clock, log }),
    new BacktestRunner({ database, clock, log }),
    new TrainingRunner({ database, clock, log }),
    new WebhookSender({ database, clock, log, post: webhooks }),
    new ChatSender({ database, clock, log, post: webhooks, publicUrl }),
    ...(mail ? [new NotificationSender({ database, clock, log, mailer: new Mailer(mail), publicUrl })] : []),
    new OverdueWorker({ database, clock, log }),
    new RuleUpgrades({ database, clock, log }),
    new Expiry({ database, clock, log, retentionDays }),
  ];
  for (const worker of workers) worker.start();
  return {
    lane,
    stop: async () => {
      await Promise.all([lane.stop(), ...workers.map((worker) => worker.stop())]);
    },
  };
}
