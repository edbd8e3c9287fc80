import { membersIn, type SceneKind } from "@casehound/simulator/scenes";
import { stageDeliveries } from "@casehound/simulator/stage";
import { unknownAccount } from "../service/src/domain/account.ts";
import type { CaseDocument } from "../service/src/domain/case.ts";
import { origin, type Opened, type Progress, type SimulatedService } from "./detection-service.ts";
import { dayMs, type Period } from "./detection-shop.ts";
import { TaughtTenant } from "./taught-tenant.ts";

// As in the other benchmark, because most of a run's time is spent on requests.
export const stageSending = { sendIntervalMs: 60_000, batchMs: 20_000 };

export type StageShop = { seed: string; users: number; period: Period; onProgress: Progress };

// False cases that were opened in one half of the measured period.
type Half = { onAccounts: number; onSources: number };
export type SceneResult = {
  scene: SceneKind;
  members: number;
  events: number;
  // Days in each half.
  days: number;
  // How many cases were open halfway through, and were closed as false positives.
  closed: number;
  before: Half;
  after: Half;
  // How often each reason led to a case in the first half.
  reasons: Record<string, number>;
};

// Plays an honest but unusual scene. Halfway through, one person closes every open case as a false positive. So the second half
// shows whether the same cases are opened again.
export async function measureScene(service: SimulatedService, scene: SceneKind, shop: StageShop): Promise<SceneResult> {
  const { seed, users, period, onProgress } = shop;
  const opened = await service.open(period);
  const middleMs = (period.measuredMs + period.endMs) / 2;
  let [isClosed, closed] = [false, 0];
  const closeOnce = async (): Promise<void> => {
    if (isClosed || service.nowMs < middleMs) return;
    isClosed = true;
    closed = await closeAllAsFalse(service, opened);
  };
  const place = { appKey: opened.app_key, origin, ...stageSending };
  const deliveries = stageDeliveries({ ...place, seed, users, period, scene, attacks: {} });
  const lived = await service.bring(opened, deliveries, { seed: `${scene} ${seed}`, onProgress, meanwhile: closeOnce });
  const made = await service.cases(opened.tenant_id);
  const before = made.filter((each) => isWithin(each, period.measuredMs, middleMs));
  return {
    scene,
    members: membersIn(scene, users),
    events: lived.events,
    days: (middleMs - period.measuredMs) / dayMs,
    closed,
    before: halfOf(before),
    after: halfOf(made.filter((each) => isWithin(each, middleMs, Number.POSITIVE_INFINITY))),
    reasons: countReasons(before),
  };
}

export function isWithin({ created_at }: CaseDocument, fromMs: number, toMs: number): boolean {
  const atMs = Date.parse(created_at);
  return atMs >= fromMs && atMs < toMs;
}

function halfOf(cases: CaseDocument[]): Half {
  const onSources = cases.filter((each) => each.website_account_id === unknownAccount).length;
  return { onSources, onAccounts: cases.length - onSources };
}

function countReasons(cases: CaseDocument[]): Record<string, number> {
  const reasons = cases.map((each) => Object.values(each.fraud_occurrences)[0]?.explanation.fraud_reason ?? "none");
  const groups = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, group]): [string, number] => [reason, group.length]);
  return Object.fromEntries(groups.toSorted(([, a], [, b]) => b - a));
}

async function closeAllAsFalse(service: SimulatedService, opened: Opened): Promise<number> {
  const open = (await service.cases(opened.tenant_id)).filter(({ status }) => status === "OPEN");
  await new TaughtTenant(service, opened).close(open, "FALSE_POSITIVE");
  return open.length;
}
