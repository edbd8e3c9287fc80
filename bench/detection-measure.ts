import type { AttackKind, SessionTruth } from "@casehound/simulator/delivery";
import { isFinding, leadOf, type Decided } from "./detection-decided.ts";

// What is measured for one session, or for one attack with all of its sessions.
export type Trace = { logOdds: number; rulesOdds: number; ratio: number; hasVelocity: boolean; hasFinding: boolean };

export type Attack = Trace & {
  kind: AttackKind;
  // The account of its first session.
  owner: string | null;
  loginsBefore: number;
  // Whether anything was changed or any money moved.
  hasActed: boolean;
  firstMs: number;
  events: number;
  // Events up to the first finding.
  eventsToFinding: number | null;
  msToFinding: number | null;
  // The labels of the cases that it opened.
  labels: string[];
  // Accounts that it entered or created, and those among them with a finding of their own.
  entered: Set<string>;
  found: Set<string>;
};

export type Genuine = Trace & { lead: string | null };
export type Measured = { attacks: Attack[]; genuine: Genuine[]; falseCases: number; aftermath: number; guests: number };

type Run = {
  truths: SessionTruth[];
  decided: Iterable<Decided>;
  labelOf: (caseId: string) => string | undefined;
  measuredMs: number;
};

// If a stranger entered an account longer before the measured period, the shop knows of it, and the account belongs to its owner
// again.
const aftermathMs = 7 * 24 * 3_600_000;

const noTrace = (): Trace => ({
  logOdds: Number.NEGATIVE_INFINITY,
  rulesOdds: Number.NEGATIVE_INFINITY,
  ratio: Number.NEGATIVE_INFINITY,
  hasVelocity: false,
  hasFinding: false,
});

export function measure({ truths, decided, labelOf, measuredMs }: Run): Measured {
  const wanted = truths.filter((truth) => truth.first_ms >= measuredMs);
  const earlier = new Set(truths.filter((truth) => truth.first_ms < measuredMs).map(({ attack_id }) => attack_id));
  const attacks = new Map<string, Attack>();
  const attackOf = new Map<string, Attack>();
  for (const truth of wanted)
    if (truth.kind !== "genuine" && !earlier.has(truth.attack_id)) noteAttack(truth, truth.kind, attacks, attackOf);
  const recent = truths.filter((truth) => truth.first_ms >= measuredMs - aftermathMs);
  const { genuine, aftermath, guests } = genuineSessions(wanted, recent, attackOf);
  const opened = new Set<string>();
  let falseCases = 0;
  for (const each of decided) {
    const session = each.session ?? "";
    const attack = each.type === "fraud_report" ? reportedBy(each, attacks) : attackOf.get(session);
    if (attack) traceAttack(attack, each);
    const own = genuine.get(session);
    if (own) traceGenuine(own, each);
    if (each.caseId === null || opened.has(each.caseId)) continue;
    opened.add(each.caseId);
    if (own) falseCases++;
    attack?.labels.push(labelOf(each.caseId) ?? "none");
  }
  return { attacks: [...attacks.values()], genuine: [...genuine.values()], falseCases, aftermath, guests };
}

// A report names the account that bought, and arrives days later.
function reportedBy({ account, receivedMs }: Decided, attacks: Map<string, Attack>): Attack | undefined {
  const isMeant = ({ kind, owner, firstMs, msToFinding }: Attack): boolean =>
    kind === "friendly_fraud" && owner === account && firstMs < receivedMs && msToFinding === null;
  return [...attacks.values()].find(isMeant);
}

function noteAttack(truth: SessionTruth, kind: AttackKind, attacks: Map<string, Attack>, attackOf: Map<string, Attack>): void {
  const id = truth.attack_id ?? "";
  const known = attacks.get(id) ?? {
    ...noTrace(),
    kind,
    owner: truth.website_account_id ?? null,
    loginsBefore: truth.logins_before,
    hasActed: false,
    firstMs: truth.first_ms,
    events: 0,
    eventsToFinding: null,
    msToFinding: null,
    labels: [],
    entered: new Set(),
    found: new Set(),
  };
  attacks.set(id, known);
  attackOf.set(truth.session_id ?? "", known);
  known.firstMs = Math.min(known.firstMs, truth.first_ms);
  known.hasActed ||= truth.has_sensitive_change || truth.has_value;
  const isIn = truth.has_login || kind === "signup_farm";
  if (isIn && truth.website_account_id !== undefined) known.entered.add(truth.website_account_id);
}

// Members' sessions, without those on an account that somebody else had entered before. A case on such an account is not a
// false positive, whichever session led to it.
function genuineSessions(
  wanted: SessionTruth[],
  recent: SessionTruth[],
  attackOf: Map<string, Attack>,
): { genuine: Map<string, Genuine>; aftermath: number; guests: number } {
  const enteredMs = new Map<string, number>();
  for (const { kind, has_login, website_account_id: account, first_ms } of recent) {
    if (kind === "genuine" || !has_login || account === undefined) continue;
    enteredMs.set(account, Math.min(enteredMs.get(account) ?? Number.POSITIVE_INFINITY, first_ms));
  }
  const genuine = new Map<string, Genuine>();
  let [aftermath, guests] = [0, 0];
  for (const { kind, session_id: session = "", website_account_id: account, last_ms } of wanted) {
    if (kind !== "genuine" || attackOf.has(session)) continue;
    if (account === undefined) guests++;
    else if ((enteredMs.get(account) ?? Number.POSITIVE_INFINITY) <= last_ms) aftermath++;
    else genuine.set(session, { ...noTrace(), lead: null });
  }
  return { genuine, aftermath, guests };
}

function trace(into: Trace, decided: Decided): boolean {
  if (decided.isJudged) into.logOdds = Math.max(into.logOdds, decided.logOdds);
  if (decided.isRuled) into.rulesOdds = Math.max(into.rulesOdds, decided.logOdds - decided.modelPart);
  into.ratio = Math.max(into.ratio, decided.ratio ?? Number.NEGATIVE_INFINITY);
  into.hasVelocity ||= decided.hasVelocity;
  const isFound = isFinding(decided);
  into.hasFinding ||= isFound;
  return isFound;
}

function traceGenuine(into: Genuine, decided: Decided): void {
  if (trace(into, decided)) into.lead ??= leadOf(decided);
}

function traceAttack(into: Attack, decided: Decided): void {
  into.events++;
  if (!trace(into, decided)) return;
  into.eventsToFinding ??= into.events;
  into.msToFinding ??= decided.receivedMs - into.firstMs;
  if (decided.account !== null && decided.type !== "login_failed") into.found.add(decided.account);
}

// The score that this share of genuine sessions exceeds. Sessions above it would be challenged.
export function thresholdAt(scores: number[], share: number): number {
  const sorted = scores.toSorted((a, b) => b - a);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NEGATIVE_INFINITY;
}
