import type { Logger } from "pino";
import { claimTurn, lockTurn, type Turn } from "../db/activities.ts";
import {
  claimOutcomes,
  findLabelled,
  listRatedBehind,
  listReported,
  listTenantsWithLabelWork,
  lockUnapplied,
  saveApplied,
  type UnlabelledOutcome,
} from "../db/label-work.ts";
import { saveMoney } from "../db/figures.ts";
import { appendEvents } from "../db/events.ts";
import { findHistoryClock } from "../db/history.ts";
import { saveLabels, type NewLabelRow, type RatedActivity } from "../db/labels.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { findCheckWeights } from "../db/random-checks.ts";
import { endSnoozes, listSnoozesAbout } from "../db/snoozes.ts";
import { entityKey, findStates, saveStates, type EntityId } from "../db/states.ts";
import { withFrauds, type FraudChange } from "../detection/label-bump.ts";
import { reportName } from "../detection/report.ts";
import { timeOf } from "../domain/activity.ts";
import type { CaseDocument } from "../domain/case.ts";
import type { Occurrence } from "../domain/finding.ts";
import { isKnownFraud, labelSources } from "../domain/label.ts";
import { snoozeEnded } from "../domain/snooze.ts";
import type { Clock } from "./cases.ts";
import { closeMembers } from "./member-closes.ts";
import { labelledNames } from "./names.ts";
import { Worker } from "./worker.ts";

const outcomesMax = 50;
const labelsMax = 500;
const idleMs = 500;
const busyMs = 50;
const faultMs = 1_000;
// After an engine has had the turn this many times in a row, the worker waits for the turn.
const refusalsMax = 5;

type LabelOptions = { database: Database; clock: Clock; log: Logger };
type Applying = { database: Database; clock: Pick<Clock, "now"> };
export type Applied = { outcomes: number; labels: number };

// Closes the cases that an attack opened, if the attack's case was closed with `members: "same"`. Then makes labels from the
// outcomes of cases, and counts labels as known frauds of the entities that their activities name.
export class LabelWorker extends Worker {
  readonly #options: LabelOptions;
  readonly #refusals = new Map<string, number>();

  constructor(options: LabelOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const { database } = this.#options;
    const tenants = await listTenantsWithLabelWork(database).catch((error: unknown) => this.#failed(error));
    let waitMs = tenants === null ? faultMs : idleMs;
    for (const tenantId of tenants ?? []) {
      if (this.signal.aborted) break;
      const refusals = this.#refusals.get(tenantId) ?? 0;
      try {
        const closed = await closeMembers(this.#options, tenantId);
        const applied = await applyLabels(this.#options, tenantId, refusals >= refusalsMax);
        if (applied) this.#refusals.delete(tenantId);
        else this.#refusals.set(tenantId, refusals + 1);
        // Labels that wait for imported history do not shorten the pause.
        if (applied === null || closed + applied.outcomes + applied.labels > 0) waitMs = Math.min(waitMs, busyMs);
      } catch (error) {
        this.#failed(error, tenantId);
        waitMs = Math.max(waitMs, faultMs);
      }
    }
    return waitMs;
  }

  #failed(error: unknown, tenantId?: string): null {
    this.#options.log.error({ err: error, tenant_id: tenantId }, "labels could not be counted and will be retried");
    return null;
  }
}

// Processes one batch of one tenant in one transaction. The tenant's turn keeps engines and erasures away meanwhile. Returns null
// if an engine has the turn. If `isPatient`, it waits for the turn instead.
export async function applyLabels({ database, clock }: Applying, tenantId: string, isPatient = false): Promise<Applied | null> {
  return database.transaction(async (tx) => {
    if (isPatient) await lockTurn(tx, tenantId);
    const turn = await claimTurn(tx, tenantId);
    if (!turn) return null;
    const now = clock.now();
    const outcomes = await labelOutcomes({ tx, tenantId, now });
    const knownBy = (await findHistoryClock(tx, tenantId)) ?? "infinity";
    const labels = await countLabels({ tx, tenantId, now, turn, knownBy });
    return { outcomes, labels };
  });
}

type Batch = { tx: Queryable; tenantId: string; now: string };

const verdicts: Record<string, 0 | 1> = { CONFIRMED_FRAUD: 1, FALSE_POSITIVE: 0 };

// An inconclusive case labels nothing. Reopening a case removes its labels at once, so no labels of an earlier close are left.
async function labelOutcomes({ tx, tenantId, now }: Batch): Promise<number> {
  const outcomes = await claimOutcomes(tx, tenantId, outcomesMax);
  const decided = outcomes.filter(({ disposition }) => verdicts[disposition] !== undefined);
  const evidence = await evidenceOf({ tx, tenantId }, decided);
  const checks = await findCheckWeights(
    tx,
    tenantId,
    decided.map(({ case_id }) => case_id),
  );
  const labels = decided.flatMap((outcome) => {
    const { case_id, case_version, decided_at: known_at, decided_by: actor } = outcome;
    const y = verdicts[outcome.disposition] ?? 0;
    const row = { source: "case" as const, case_id, case_version, actor };
    return evidence(outcome).map(({ event_at, ...activity }): NewLabelRow => {
      const weight = checks.get(activity.id_key) ?? labelSources.case.weight;
      return { activity, y, weight, event_at, labelled_at: now, known_at, ...row };
    });
  });
  await saveLabels(tx, tenantId, labels);
  const confirmed = decided.filter(({ disposition }) => verdicts[disposition] === 1);
  await saveMoney(
    tx,
    tenantId,
    confirmed.map(({ case_id }) => case_id),
  );
  await endConfirmed({ tx, tenantId, now }, outcomes);
  return outcomes.length;
}

// No rule stays quiet about a confirmed fraud.
async function endConfirmed({ tx, tenantId, now }: Batch, outcomes: UnlabelledOutcome[]): Promise<void> {
  const confirmed = outcomes.filter(({ disposition }) => disposition === "CONFIRMED_FRAUD");
  const ending = { because: "confirmed_fraud", by: "system", now } as const;
  const ended = await endSnoozes(tx, tenantId, await listSnoozesAbout(tx, tenantId, confirmed), ending);
  if (ended.length === 0) return;
  await appendEvents(
    tx,
    tenantId,
    ended.map((each) => snoozeEnded(each, ending)),
  );
}

type Evidence = Pick<RatedActivity, "id_key" | "received_at"> & { event_at: string };

// Returns the activities that an outcome labels: those behind the occurrences that it is about, and those that the case's reports
// named. Only a false positive also labels the payments that were guessed from a report, because a person who confirms a report
// has not confirmed each guess.
async function evidenceOf(
  { tx, tenantId }: Pick<Batch, "tx" | "tenantId">,
  outcomes: UnlabelledOutcome[],
): Promise<(outcome: UnlabelledOutcome) => Evidence[]> {
  const decided = new Map(outcomes.map((outcome) => [outcome, decidedIn(outcome)]));
  const predictions = [...decided.values()].flatMap((each) => each.predictions);
  const rated = await listRatedBehind(tx, tenantId, [...new Set(predictions)]);
  const reported = await listReported(
    tx,
    tenantId,
    outcomes.map(({ case_id }) => case_id),
  );
  const byPrediction = Map.groupBy(rated, ({ prediction_id }) => prediction_id);
  const byCase = Map.groupBy(reported, ({ case_id }) => case_id);
  return (outcome) => {
    const isFalse = outcome.disposition === "FALSE_POSITIVE";
    const { predictions: ids = [], hasReports = true } = decided.get(outcome) ?? {};
    const behind = ids.flatMap((id) => byPrediction.get(id) ?? []);
    const reports = hasReports ? (byCase.get(outcome.case_id) ?? []) : [];
    const named = reports.filter(({ source }) => isFalse || labelSources[source].isCounted);
    const all = [
      ...behind.map((each) => ({ ...keyOf(each), event_at: new Date(timeOf(each)).toISOString() })),
      ...named.map((each) => ({ ...keyOf(each), event_at: each.event_at })),
    ];
    return [...new Map(all.map((each) => [each.id_key, each])).values()];
  };
}

function keyOf({ id_key, received_at }: Pick<RatedActivity, "id_key" | "received_at">) {
  return { id_key, received_at };
}

// Returns what the outcome is about: the whole case, or the occurrences that the close named.
function decidedIn({ document }: UnlabelledOutcome): { predictions: string[]; hasReports: boolean } {
  if (document === null) return { predictions: [], hasReports: true };
  // The cast is safe: only saveCases and insertCase write documents.
  const { fraud_occurrences: occurrences, current_state: state } = JSON.parse(document) as CaseDocument;
  const { occurrence_ids: ids } = state;
  const decided = Object.values(occurrences).filter(({ occurrence_id: id }) => ids?.includes(id) ?? true);
  const predictions = decided.map(({ prediction_id }) => prediction_id);
  return { predictions, hasReports: ids === undefined || decided.some(isReport) };
}

function isReport({ explanation }: Occurrence): boolean {
  return explanation.model_behaviour?.some(({ model_name }) => model_name === reportName) ?? false;
}

// Counts labels that were known at `knownBy`. While history is being scored, that is the time of its next activity. Otherwise a
// payment would be compared with frauds that nobody knew of at that time. An entity without a state has been inactive for longer
// than frauds are counted, so it needs no change.
export async function countLabels({
  tx,
  tenantId,
  now,
  turn,
  knownBy,
}: Batch & { turn: Turn; knownBy: string }): Promise<number> {
  const labels = await lockUnapplied(tx, tenantId, { max: labelsMax, knownBy });
  if (labels.length === 0) return 0;
  const changes = [...Map.groupBy(labels, ({ id_key }) => id_key).values()].flatMap(changeBy);
  const activities = await findLabelled(tx, tenantId, changes);
  const ringKey = Buffer.from(turn.ip_key).toString("hex");
  const byEntity = new Map<string, { id: EntityId; changes: FraudChange[] }>();
  for (const { id_key, at, by } of changes) {
    const activity = activities.get(id_key);
    for (const [kind, name] of activity ? labelledNames(activity, ringKey) : []) {
      const key = entityKey(kind, name);
      const entry = byEntity.get(key) ?? { id: { kind, key }, changes: [] };
      entry.changes.push({ at, by });
      byEntity.set(key, entry);
    }
  }
  const ids = [...byEntity.values()].map(({ id }) => id);
  const states = ids.length === 0 ? [] : await findStates(tx, tenantId, ids);
  const changed = states.map((state) => ({ ...state, facts: withFrauds(state.facts, byEntity.get(state.key)?.changes ?? []) }));
  if (changed.length > 0) await saveStates(tx, tenantId, { states: changed, day: now.slice(0, 10) });
  await saveApplied(tx, tenantId, labels);
  return labels.length;
}

type Votes = Awaited<ReturnType<typeof lockUnapplied>>;

// Compares what the labels of one activity say now with what was counted for them.
function changeBy(votes: Votes): (FraudChange & Pick<RatedActivity, "id_key" | "received_at">)[] {
  const [first] = votes;
  const before = isKnownFraud(votes.map(({ source, applied_y: y }) => ({ source, y })));
  const after = isKnownFraud(votes);
  if (!first || before === after) return [];
  return [{ ...keyOf(first), at: Date.parse(first.event_at), by: after ? 1 : -1 }];
}
