import type { AttackCounts } from "@casehound/simulator/attackers";
import { familyKinds, type FraudTruth, type SessionTruth } from "@casehound/simulator/delivery";
import { stageDeliveries } from "@casehound/simulator/stage";
import { accountSubject } from "../service/src/domain/activity.ts";
import { stageSending, isWithin, type StageShop } from "./detection-scenes.ts";
import { origin, type CasedActivity, type SimulatedService } from "./detection-service.ts";
import { dayMs, type Period } from "./detection-shop.ts";

type FamilyKind = (typeof familyKinds)[number];

// Per 100 members and 14 days.
const attacks: Record<FamilyKind, number> = {
  mule_ring: 1.5,
  dormant_mule: 1,
  dormant_takeover: 4,
  stolen_instruments: 1.5,
  card_testing: 1.5,
  promo_abuse: 2,
  session_hijack: 4,
  refund_abuse: 2,
};

// One attack: when it began, the accounts that it used, and those of them with a case.
type FamilyAttack = {
  kind: FamilyKind;
  firstMs: number;
  accounts: Set<string>;
  // Accounts with a case that one of the attack's activities on the account opened or joined.
  inCase: Set<string>;
  // Accounts with a case about the account.
  ownCase: Set<string>;
  cases: Set<string>;
  msToCase: number | null;
};

export type FamilyRun = { attacks: FamilyAttack[]; falseCases: number; days: number };

type Happened = {
  truths: SessionTruth[];
  frauds: FraudTruth[];
  cased: CasedActivity[];
  // The subject of each case that was opened in the measured period.
  subjects: Map<string, string>;
  measuredMs: number;
};

const isFamily = (kind: string): kind is FamilyKind => familyKinds.some((each) => each === kind);

// Attributes activities in cases to attacks. A hijacked session also has honest activities, from before the attack.
export function attributeCases({ truths, frauds, cased, subjects, measuredMs }: Happened): {
  attacks: FamilyAttack[];
  falseCases: number;
} {
  const found = new Map<string, FamilyAttack>();
  const bySession = new Map<string, { attack: FamilyAttack; firstMs: number }>();
  for (const { kind, attack_id: id = "", session_id: session = "", website_account_id: account, first_ms } of truths) {
    if (!isFamily(kind) || first_ms < measuredMs) continue;
    const attack = found.get(id) ?? newAttack(kind, first_ms);
    found.set(id, attack);
    attack.firstMs = Math.min(attack.firstMs, first_ms);
    if (account !== undefined) attack.accounts.add(account);
    const firstMs = Math.min(first_ms, bySession.get(session)?.firstMs ?? Number.POSITIVE_INFINITY);
    bySession.set(session, { attack, firstMs });
  }
  const byActivity = new Map<string, FamilyAttack>();
  for (const { attack_id, activities } of frauds) {
    const attack = found.get(attack_id);
    if (attack !== undefined) for (const { activity_id } of activities) byActivity.set(activity_id, attack);
  }
  const guilty = new Set<string>();
  for (const each of cased) {
    const receivedMs = Date.parse(each.received_at);
    const session = bySession.get(each.session_id ?? "");
    const attack = byActivity.get(each.activity_id) ?? (session && session.firstMs <= receivedMs ? session.attack : undefined);
    if (attack === undefined) continue;
    guilty.add(each.case_id);
    noteCase(attack, each, receivedMs, subjects);
  }
  const falseCases = subjects.keys().filter((id) => !guilty.has(id));
  return { attacks: [...found.values()], falseCases: falseCases.toArray().length };
}

function newAttack(kind: FamilyKind, firstMs: number): FamilyAttack {
  const none = { accounts: new Set<string>(), inCase: new Set<string>(), ownCase: new Set<string>(), cases: new Set<string>() };
  return { kind, firstMs, ...none, msToCase: null };
}

function noteCase(attack: FamilyAttack, each: CasedActivity, receivedMs: number, subjects: Map<string, string>): void {
  attack.cases.add(each.case_id);
  attack.msToCase = Math.min(attack.msToCase ?? Number.POSITIVE_INFINITY, receivedMs - attack.firstMs);
  const { website_account_id: account } = each;
  if (account === null) return;
  attack.inCase.add(account);
  if (subjects.get(each.case_id) === accountSubject(account)) attack.ownCase.add(account);
}

function countsFor(users: number, { measuredMs, endMs }: Period): AttackCounts {
  const scale = (users / 100) * ((endMs - measuredMs) / (14 * dayMs));
  return Object.fromEntries(Object.entries(attacks).map(([kind, count]) => [kind, Math.ceil(count * scale)]));
}

// Plays a shop with all of the families at once.
export async function measureFamilies(service: SimulatedService, shop: StageShop): Promise<FamilyRun> {
  const { seed, users, period, onProgress } = shop;
  const opened = await service.open(period);
  const place = { appKey: opened.app_key, origin, ...stageSending };
  const stage = { ...place, seed, users, period, scene: "ordinary", attacks: countsFor(users, period) } as const;
  const { truths, frauds } = await service.bring(opened, stageDeliveries(stage), { seed: `families ${seed}`, onProgress });
  const made = (await service.cases(opened.tenant_id)).filter((each) =>
    isWithin(each, period.measuredMs, Number.POSITIVE_INFINITY),
  );
  const subjects = new Map(made.map((each) => [each.case_id, accountSubject(each.website_account_id)]));
  const cased = await service.activitiesInCases(opened.tenant_id);
  const found = attributeCases({ truths, frauds, cased, subjects, measuredMs: period.measuredMs });
  return { ...found, days: (period.endMs - period.measuredMs) / dayMs };
}
