import { Type } from "typebox";
import {
  cancelBacktest,
  countWaiting,
  deleteBacktestsBeyond,
  findBacktest,
  insertBacktest,
  listBacktests,
  type StoredBacktest,
} from "../db/backtests.ts";
import { findDecided, type DecidedActivity } from "../db/decisions.ts";
import { lockSettings } from "../db/rules.ts";
import { compileRule } from "../detection/compile.ts";
import { attributesOf, featuresOf, valuesOf } from "../detection/draft.ts";
import { RuleFault } from "../detection/fault.ts";
import { contextOf } from "../detection/vector.ts";
import {
  Backtest,
  BacktestListItem,
  NewBacktest,
  backtestFaults,
  backtestsShownMax,
  backtestsWaitingMax,
  requestOf,
  type BacktestExample,
} from "../domain/backtest.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { expressionFaults, requireLists } from "./rules.ts";

const keptMax = 200;
const retryAfterSeconds = 10;

async function create(services: Services, { caller, body }: Call<NewBacktest>): Promise<Reply> {
  const now = services.now();
  const added = { backtest_id: services.newId(now), request: requestOf(body, now), created_at: now, created_by: caller.actor };
  return services.database.transaction(async (tx) => {
    // Locked, so two concurrent requests cannot both pass the limit.
    await lockSettings(tx, caller.tenant_id, now);
    await requireLists(tx, caller.tenant_id, body.expression);
    if ((await countWaiting(tx, caller.tenant_id)) >= backtestsWaitingMax) throw tooMany();
    await deleteBacktestsBeyond(tx, caller.tenant_id, keptMax - 1);
    return dataReply(await insertBacktest(tx, caller.tenant_id, added), 202);
  });
}

function tooMany(): Failure {
  const headers = { "retry-after": String(retryAfterSeconds) };
  const detail = `${backtestsWaitingMax} backtests are waiting or running. Cancel one, or send this again when one has ended.`;
  return new Failure("rate-limited", detail, { headers });
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ backtests: await listBacktests(services.database, caller.tenant_id, backtestsShownMax) });
}

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["backtest_id"] ?? "";
  const found = await findBacktest(services.database, caller.tenant_id, id);
  if (!found) throw notFound("Backtest", id);
  return dataReply(await withExamples(services, caller.tenant_id, found));
}

async function cancel(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["backtest_id"] ?? "";
  const now = services.now();
  const found = await services.database.transaction(async (tx) => {
    const before = await findBacktest(tx, caller.tenant_id, id);
    if (!before) throw notFound("Backtest", id);
    await cancelBacktest(tx, caller.tenant_id, { id, now });
    return findBacktest(tx, caller.tenant_id, id);
  });
  if (!found) throw notFound("Backtest", id);
  return dataReply(await withExamples(services, caller.tenant_id, found));
}

// The result stores only references to its examples, so activity that was erased from the log is in no result either.
async function withExamples(services: Services, tenantId: string, found: StoredBacktest): Promise<Backtest> {
  const { result, ...rest } = found;
  if (!result) return rest;
  const rows = await findDecided(services.database, tenantId, result.examples);
  const reads = readsOf(found.expression);
  return { ...rest, result: { ...result, examples: rows.map((row) => toExample(row, reads)) } };
}

function toExample(row: DecidedActivity, reads: string[]): BacktestExample {
  const { activity_id, type, occurred_at, website_account_id, score, decision, document } = row;
  const context = contextOf(featuresOf(decision), attributesOf(document));
  return {
    activity_id,
    type,
    occurred_at,
    ...(website_account_id !== null && { website_account_id }),
    score,
    values: valuesOf(reads, context),
  };
}

// Returns none if the catalogue has changed since and the draft no longer compiles.
function readsOf(expression: string): string[] {
  try {
    return compileRule(expression).reads;
  } catch (error) {
    if (error instanceof RuleFault) return [];
    throw error;
  }
}

export const backtestOperations: Operation[] = [
  operation({
    id: "listBacktests",
    method: "GET",
    path: "/backtests",
    scope: "read:rules",
    tag: "Detection",
    summary: "List backtests",
    description: `The latest ${backtestsShownMax}, newest first, without their results.`,
    success: {
      status: 200,
      description: "The backtests",
      schema: Type.Object({ backtests: Type.Array(BacktestListItem) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "createBacktest",
    method: "POST",
    path: "/backtests",
    scope: "manage:rules",
    tag: "Detection",
    summary: "Try a draft on stored decisions",
    description: `Shows what a rule with this expression would have hit. Read the backtest for its progress and result. At most ${backtestsWaitingMax} may wait or run; more are rejected as rate-limited. The latest ${keptMax} are kept.`,
    body: NewBacktest,
    faults: (body) => [...expressionFaults(body), ...backtestFaults(body)],
    success: { status: 202, description: "The backtest, waiting", schema: Backtest },
    problems: ["bad-request", "rate-limited", "transaction-contended"],
    example: {
      expression: 'event.type == "login_failed" && device.failed_accounts_1h >= 8',
      label: "Stuffing, stricter",
      days: 30,
    },
    handle: create,
  }),
  operation({
    id: "getBacktest",
    method: "GET",
    path: "/backtests/{backtest_id}",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read a backtest",
    success: { status: 200, description: "The backtest, with its result once it is DONE", schema: Backtest },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "cancelBacktest",
    method: "POST",
    path: "/backtests/{backtest_id}/cancel",
    scope: "manage:rules",
    tag: "Detection",
    summary: "Cancel a backtest",
    description: "A backtest that has ended does not change.",
    success: { status: 200, description: "The backtest", schema: Backtest },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: cancel,
  }),
];
