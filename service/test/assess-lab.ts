import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Assessment } from "../src/domain/assessment.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { Assessor } from "../src/engine/assessor.ts";
import { BatchTurns } from "../src/engine/batch-turns.ts";
import { BriefBatches } from "../src/engine/brief-batches.ts";
import type { Detector } from "../src/engine/detect.ts";
import { UrgentLane } from "../src/engine/urgent-lane.ts";
import { Verdicts } from "../src/engine/verdicts.ts";

// Long enough for a final verdict, however slow the machine is.
const patientMs = 60_000;

// An assessor with its urgent lane, but without the engine's own loop. So nothing but assessments is scored automatically.
export class AssessLab {
  readonly #assessor: Assessor;
  readonly #lane: UrgentLane;

  constructor(detector: Detector) {
    const log = pino({ level: "silent" });
    const verdicts = new Verdicts();
    const own = { ...detector, verdicts, brief: new BriefBatches() };
    const turns = new BatchTurns();
    this.#lane = new UrgentLane({ detector: own, log, onPass: () => {}, turns, onLeft: () => {} });
    this.#assessor = new Assessor({ detector: own, log, wake: (tenantId) => this.#lane.wake(tenantId) });
  }

  async start(): Promise<void> {
    await this.#assessor.start();
  }

  async stop(): Promise<void> {
    await this.#assessor.stop();
    await this.#lane.stop();
  }

  async assess(tenantId: string, activity: RecordedActivity, deadlineMs = patientMs): Promise<string> {
    const fingerprint = Buffer.from(activity.activity_id);
    const asked = {
      activity: { ...activity, prediction_id: randomUUID() },
      fingerprint,
      deadlineMs,
      otherwise: "ALLOW" as const,
    };
    return (await this.#assessor.assess(tenantId, asked)).reply;
  }

  async verdict(tenantId: string, activity: RecordedActivity): Promise<Assessment> {
    // The cast is safe, because only an assessor writes replies.
    return JSON.parse(await this.assess(tenantId, activity)) as Assessment;
  }
}
