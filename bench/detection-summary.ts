import { attackKinds, type AttackKind } from "@casehound/simulator/delivery";
import { thresholdAt, type Attack, type Genuine, type Measured } from "./detection-measure.ts";

// A share from 0 to 1, or null if there is nothing to take a share of.
type Share = number | null;

export type KindSummary = {
  kind: AttackKind;
  attacks: number;
  // Attacks of which the service received any event.
  heard: number;
  // The share caught by the cases that detection opens, and by challenging 1 % or 5 % of the genuine sessions.
  case: Share;
  at1: Share;
  at5: Share;
  // By challenging 1 % by the rules and the likelihood ratio, without a model.
  rulesAt1: Share;
  ratioAt1: Share;
  ratioAt5: Share;
  velocity: Share;
  eventsToFinding: number | null;
  minutesToFinding: number | null;
  entered: number;
  enteredWithCase: number;
  labels: Record<string, number>;
};
type Cell = { attacks: number; case: Share; at1: Share };
export type TakeoverSummary = { kind: AttackKind; byHistory: Cell[]; looked: Cell; acted: Cell };
export type Summary = {
  genuineSessions: number;
  guestSessions: number;
  aftermathSessions: number;
  falseSessions: number;
  falseCases: number;
  falseByRule: Record<string, number>;
  falseByVelocity: number;
  kinds: KindSummary[];
  takeovers: TakeoverSummary[];
};

export const historyBounds: readonly [from: number, to: number][] = [
  [0, 3],
  [4, 11],
  [12, 39],
  [40, Number.POSITIVE_INFINITY],
];
const takeoverKinds: readonly AttackKind[] = [
  "takeover_naive",
  "takeover_vpn",
  "takeover_targeted",
  "takeover_very_targeted",
  "reset_then_transfer",
];

type Bounds = { at1: number; at5: number; rulesAt1: number; ratioAt1: number; ratioAt5: number };

export function summarise(measured: Measured[]): Summary {
  const genuine = measured.flatMap((each) => each.genuine);
  const attacks = measured.flatMap((each) => each.attacks);
  const bounds = boundsOf(genuine);
  const ofKind = (kind: AttackKind): Attack[] => attacks.filter((attack) => attack.kind === kind);
  const sum = (pick: (each: Measured) => number): number => measured.reduce((total, each) => total + pick(each), 0);
  return {
    genuineSessions: genuine.length,
    guestSessions: sum(({ guests }) => guests),
    aftermathSessions: sum(({ aftermath }) => aftermath),
    falseSessions: genuine.filter(({ hasFinding }) => hasFinding).length,
    falseCases: sum(({ falseCases }) => falseCases),
    falseByRule: counted(genuine.flatMap(({ lead }) => lead ?? [])),
    falseByVelocity: genuine.filter(({ hasVelocity }) => hasVelocity).length,
    kinds: attackKinds.map((kind) => summariseKind(kind, ofKind(kind), bounds)),
    takeovers: takeoverKinds.map((kind) => summariseTakeover(kind, ofKind(kind), bounds)),
  };
}

function boundsOf(genuine: Genuine[]): Bounds {
  const scores = genuine.map(({ logOdds }) => logOdds);
  const ratios = genuine.map(({ ratio }) => ratio);
  return {
    at1: thresholdAt(scores, 0.01),
    at5: thresholdAt(scores, 0.05),
    rulesAt1: thresholdAt(
      genuine.map(({ rulesOdds }) => rulesOdds),
      0.01,
    ),
    ratioAt1: thresholdAt(ratios, 0.01),
    ratioAt5: thresholdAt(ratios, 0.05),
  };
}

function summariseKind(kind: AttackKind, attacks: Attack[], bounds: Bounds): KindSummary {
  const entered = attacks.reduce((total, each) => total + each.entered.size, 0);
  return {
    kind,
    attacks: attacks.length,
    heard: attacks.filter(({ events }) => events > 0).length,
    case: share(attacks, ({ hasFinding }) => hasFinding),
    at1: share(attacks, ({ logOdds }) => logOdds > bounds.at1),
    at5: share(attacks, ({ logOdds }) => logOdds > bounds.at5),
    rulesAt1: share(attacks, ({ rulesOdds }) => rulesOdds > bounds.rulesAt1),
    ratioAt1: share(attacks, ({ ratio }) => ratio > bounds.ratioAt1),
    ratioAt5: share(attacks, ({ ratio }) => ratio > bounds.ratioAt5),
    velocity: share(attacks, ({ hasVelocity }) => hasVelocity),
    eventsToFinding: median(attacks.flatMap(({ eventsToFinding }) => eventsToFinding ?? [])),
    minutesToFinding: median(attacks.flatMap(({ msToFinding }) => (msToFinding === null ? [] : [msToFinding / 60_000]))),
    entered,
    enteredWithCase: attacks.reduce((total, each) => total + each.entered.intersection(each.found).size, 0),
    labels: counted(attacks.flatMap(({ labels }) => mostCommon(labels) ?? [])),
  };
}

function summariseTakeover(kind: AttackKind, attacks: Attack[], bounds: Bounds): TakeoverSummary {
  const cellOf = (isIn: (attack: Attack) => boolean): Cell => {
    const wanted = attacks.filter(isIn);
    return {
      attacks: wanted.length,
      case: share(wanted, ({ hasFinding }) => hasFinding),
      at1: share(wanted, ({ logOdds }) => logOdds > bounds.at1),
    };
  };
  return {
    kind,
    byHistory: historyBounds.map(([from, to]) => cellOf(({ loginsBefore }) => loginsBefore >= from && loginsBefore <= to)),
    looked: cellOf(({ hasActed }) => !hasActed),
    acted: cellOf(({ hasActed }) => hasActed),
  };
}

function share<T>(all: T[], isWanted: (each: T) => boolean): Share {
  return all.length === 0 ? null : all.filter(isWanted).length / all.length;
}

export function median(values: number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

function counted(names: string[]): Record<string, number> {
  const groups = [...Map.groupBy(names, (name) => name)].map(([name, group]): [string, number] => [name, group.length]);
  return Object.fromEntries(groups.toSorted(([, a], [, b]) => b - a));
}

function mostCommon(names: string[]): string | undefined {
  return Object.keys(counted(names))[0];
}
