import type { Logger } from "pino";
import {
  answeredChannel,
  findAnswers,
  insertAssessments,
  saveAnswers,
  urgentChannel,
  type Accepted,
  type AskedAssessment,
  type AssessedActivity,
  type NewAssessment,
} from "../db/assessments.ts";
import { activityKey } from "../db/inbox.ts";
import type { Database } from "../db/postgres/database.ts";
import { gatherWrites } from "../db/postgres/gather.ts";
import { Listener } from "../db/postgres/listener.ts";
import { Batcher } from "../concurrency/batcher.ts";
import { Counts } from "../concurrency/counts.ts";
import { partOf } from "../concurrency/share.ts";
import { withoutVerdict, type AnswerKind, type Assessment } from "../domain/assessment.ts";
import { Failure } from "../domain/failure.ts";
import type { PolicyAction } from "../domain/policy.ts";
import { Deadline, late, type Late } from "./deadline.ts";
import type { Detector } from "./detect.ts";
import { judgeSnapshot } from "./snapshot.ts";
import type { Verdicts } from "./verdicts.ts";

// These shares of the deadline, but at least these times, are for judging a snapshot and for storing its answer, which takes a
// commit.
const snapshotShare = 0.4;
const snapshotMsMin = 10;
const storeShare = 0.2;
const storeMsMin = 5;
// A snapshot costs as much as the engine's own judgement. More than this many of a tenant at once would only delay the engine
// further.
const snapshotsMax = partOf(100);
const waitingMax = partOf(2_000);
const togetherMax = 200;

type AssessorOptions = {
  detector: Detector & { verdicts: Verdicts };
  log: Logger;
  // Wakes the engine of this process. If the process has none, this is null, and the other processes are notified.
  wake: ((tenantId: string) => void) | null;
  onAnswer?: (kind: AnswerKind) => void;
};
// `isReplay`: the answer was already given to an earlier request.
export type Answer = { reply: string; isReplay: boolean };

// Answers assessments by their deadlines: with the engine's verdict, with a judgement of what is stored, or with the sender's
// `otherwise`. An answer is stored before it is sent, unless the database does not respond in time.
export class Assessor {
  readonly #options: AssessorOptions;
  readonly #listener: Listener;
  readonly #accept: (tenantId: string, asked: NewAssessment) => Promise<Accepted>;
  readonly #snapshots: Batcher<AssessedActivity, Assessment | undefined>;
  readonly #store: (tenantId: string, answer: { id_key: string; reply: string }) => Promise<string>;
  // How many snapshots of each tenant are being judged, and how many of its requests are under way.
  readonly #judging = new Counts();
  readonly #underWay = new Counts();
  // The tenants whose stored answers are being read. `isAgain`: read them again afterwards.
  readonly #reading = new Map<string, { isAgain: boolean }>();

  constructor(options: AssessorOptions) {
    this.#options = options;
    const { detector, wake } = options;
    const { database } = detector;
    this.#listener = new Listener(database, {
      channels: wake ? [answeredChannel, urgentChannel] : [answeredChannel],
      onNotice: (channel, tenantId) => (channel === urgentChannel ? wake?.(tenantId) : void this.#readAnswers(tenantId)),
      onLost: () => {},
      // Notifications that were sent meanwhile are lost.
      onListening: () => void Promise.all(detector.verdicts.tenants().map((tenantId) => this.#readAnswers(tenantId))),
    });
    this.#accept = gatherWrites(
      (tenantId, given: NewAssessment[]) =>
        insertAssessments(database.forTenant(tenantId), tenantId, { given, mustNotify: wake === null }),
      { togetherMax },
    );
    this.#store = gatherWrites(
      (tenantId, answers: { id_key: string; reply: string }[]) => storeAll(database, tenantId, answers),
      {
        togetherMax,
      },
    );
    this.#snapshots = new Batcher(
      async (tenantId, activities: AssessedActivity[]) => {
        const judged = await judgeSnapshot(detector, tenantId, activities);
        return activities.map(({ prediction_id }) => judged.get(prediction_id));
      },
      { togetherMax, atOnceMax: 1, allAtOnceMax: partOf(4) },
    );
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  async assess(tenantId: string, asked: AskedAssessment): Promise<Answer> {
    if (this.#underWay.of(tenantId) >= waitingMax) throw tooMany();
    this.#underWay.add(tenantId, 1);
    const limit = new Deadline(asked.deadlineMs);
    try {
      const answer = await this.#answer(tenantId, asked, limit);
      this.#options.onAnswer?.(kindOf(answer));
      return answer;
    } finally {
      // What is not stored by the deadline still takes up memory. While the database is stuck, it must not grow without limit.
      void limit.allWritten().then(() => this.#underWay.add(tenantId, -1));
    }
  }

  async #answer(tenantId: string, asked: AskedAssessment, limit: Deadline): Promise<Answer> {
    const { activity, otherwise } = asked;
    const { detector, wake, log } = this.#options;
    const id_key = activityKey(activity);
    // Start to wait before the activity is stored, because an engine may take it immediately.
    const verdict = new Promise<string>((resolve) => limit.onEnd(detector.verdicts.wait(tenantId, id_key, resolve)));
    const unstored = ({ prediction_id }: AssessedActivity, action: PolicyAction) => {
      const { activity_id } = activity;
      const answer = withoutVerdict({ activity_id, prediction_id, action, took_ms: limit.tookMs() }, false);
      return { reply: JSON.stringify(answer), isReplay: false };
    };
    try {
      const accepted = await limit.before(limit.writing(this.#accept(tenantId, asked)));
      if (accepted === late) return unstored(activity, otherwise);
      if (accepted.outcome === "conflict") throw conflict();
      const known = accepted.outcome === "known" ? accepted : null;
      if (known && known.reply !== null) return { reply: known.reply, isReplay: true };
      wake?.(tenantId);
      const waiting = known ? { ...activity, prediction_id: known.prediction_id, received_at: known.received_at } : activity;
      const action = accepted.isBlocked ? "BLOCK" : otherwise;
      const deciding = this.#decide(tenantId, { id_key, waiting, action, verdict, limit });
      const given = await limit.before(deciding).catch((error: unknown): Late => {
        log.warn({ err: error, tenant_id: tenantId }, "an answer to an assessment could not be stored");
        return late;
      });
      return given === late ? unstored(waiting, action) : { reply: given, isReplay: false };
    } finally {
      limit.end();
    }
  }

  async #decide(tenantId: string, { id_key, waiting, action, verdict, limit }: Deciding): Promise<string> {
    const { deadlineMs } = limit;
    const storeFrom = deadlineMs - Math.max(deadlineMs * storeShare, storeMsMin);
    const judgeFrom = storeFrom - Math.max(deadlineMs * snapshotShare, snapshotMsMin);
    const early = await Promise.race([verdict, limit.at(judgeFrom)]);
    if (early !== late) return early;
    // A notification may be lost.
    void this.#readAnswers(tenantId);
    let snapshot: Assessment | undefined;
    void this.#judge(tenantId, waiting).then((judged) => (snapshot = judged));
    // The verdict is better than a snapshot, so wait for it as long as possible.
    const decided = await Promise.race([verdict, limit.at(storeFrom)]);
    if (decided !== late) return decided;
    const { activity_id, prediction_id } = waiting;
    const took_ms = limit.tookMs();
    const answer: Assessment = snapshot
      ? { ...snapshot, took_ms }
      : withoutVerdict({ activity_id, prediction_id, action, took_ms }, true);
    return Promise.race([verdict, limit.writing(this.#store(tenantId, { id_key, reply: JSON.stringify(answer) }))]);
  }

  async #judge(tenantId: string, waiting: AssessedActivity): Promise<Assessment | undefined> {
    if (this.#judging.of(tenantId) >= snapshotsMax) return undefined;
    this.#judging.add(tenantId, 1);
    try {
      return await this.#snapshots.add(tenantId, waiting);
    } catch (error) {
      this.#options.log.warn({ err: error, tenant_id: tenantId }, "an assessment could not be judged at its deadline");
      return undefined;
    } finally {
      this.#judging.add(tenantId, -1);
    }
  }

  // Reads the stored answers that requests in this process wait for.
  async #readAnswers(tenantId: string): Promise<void> {
    const running = this.#reading.get(tenantId);
    if (running) {
      running.isAgain = true;
      return;
    }
    const state = { isAgain: true };
    this.#reading.set(tenantId, state);
    const { detector, log } = this.#options;
    try {
      while (state.isAgain) {
        state.isAgain = false;
        const keys = detector.verdicts.keysOf(tenantId);
        if (keys.length === 0) break;
        const answers = await detector.database.forTenant(tenantId).transaction((tx) => findAnswers(tx, tenantId, keys));
        detector.verdicts.deliver(tenantId, answers);
      }
    } catch (error) {
      log.warn({ err: error, tenant_id: tenantId }, "answers to assessments could not be read");
    } finally {
      this.#reading.delete(tenantId);
    }
  }
}

type Deciding = {
  id_key: string;
  waiting: AssessedActivity;
  action: PolicyAction;
  verdict: Promise<string>;
  limit: Deadline;
};

// Returns the answers that are stored in the end, because an engine may have been faster.
async function storeAll(database: Database, tenantId: string, answers: { id_key: string; reply: string }[]): Promise<string[]> {
  return database.forTenant(tenantId).transaction(async (tx) => {
    const saved = await saveAnswers(tx, tenantId, answers);
    const others = answers.filter(({ id_key }) => !saved.has(id_key)).map(({ id_key }) => id_key);
    const found = others.length === 0 ? [] : await findAnswers(tx, tenantId, others);
    const before = new Map(found.map((each) => [each.id_key, each.reply]));
    return answers.map(({ id_key, reply }) => before.get(id_key) ?? reply);
  });
}

function kindOf({ reply, isReplay }: Answer): AnswerKind {
  if (isReplay) return "replay";
  if (reply.includes('"is_stored":false')) return "not_stored";
  return (["engine", "snapshot"] as const).find((kind) => reply.includes(`"verdict_from":"${kind}"`)) ?? "otherwise";
}

function conflict(): Failure {
  return new Failure(
    "operation-idempotency-conflict",
    "This activity_id was used for another request. A different request needs a new activity_id.",
  );
}

function tooMany(): Failure {
  return new Failure("rate-limited", "Too many assessments are under way. Nothing was stored: retry after a short delay.", {
    headers: { "retry-after": "1" },
  });
}
