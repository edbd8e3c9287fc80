import { isBeyond, isCovered, ratioId, type Quiet } from "../domain/snooze.ts";
import { accusersOf } from "./damping.ts";
import { ratioOf, type Lead, type Observed } from "./leads.ts";
import { scoreOf, type Quieted } from "./score.ts";

// What the snoozes of a subject do to a lead about it. `quieted` is null if none of them has an effect. `isKept`: without them,
// the lead would have been strong enough for a case. `isOver`: the evidence goes beyond what was judged, so the snoozes end and
// the lead counts in full.
export type Hushed = { quieted: Lead | null; by: Quiet[]; isKept: boolean; isOver: boolean };

const nothing: Hushed = { quieted: null, by: [], isKept: false, isOver: false };

// A snooze holds as long as the other evidence is not enough for a case and the evidence does not go beyond what was judged. It
// never covers a different subject, so nobody gains anything by using a device that is quiet for somebody else.
export function hush(lead: Lead, snoozes: readonly Quiet[], { activity, at }: Pick<Observed, "activity" | "at">): Hushed {
  const covering = snoozes.filter((each) => at < Date.parse(each.until) && isCovered(each, activity));
  if (covering.length === 0) return nothing;
  const { verdict } = lead;
  const ratio = ratioOf(verdict);
  const evidence = [...accusersOf(verdict), ...(ratio > 0 ? [{ rule_id: ratioId, weight: ratio }] : [])];
  const by = covering.filter(({ rules }) => evidence.some(({ rule_id }) => rules.includes(rule_id)));
  const quiet = evidence
    .filter(({ rule_id }) => by.some(({ rules }) => rules.includes(rule_id)))
    .map(({ rule_id, weight }): Quieted => ({ rule_id, logOdds: -rounded(weight) }));
  const logOdds = rounded(quiet.reduce((sum, each) => sum + each.logOdds, verdict.logOdds));
  const score = scoreOf(logOdds, verdict.thresholds, verdict.source);
  const isStrong = verdict.score >= 3;
  const judged = { score: Math.max(...by.map((each) => each.score)), size: sizeOf(quiet, by) };
  if (isStrong && (score >= 3 || isBeyond(judged, { score: verdict.score, size: lead.size })))
    return { ...nothing, by: covering, isOver: true };
  if (quiet.length === 0) return nothing;
  return { quieted: { ...lead, verdict: { ...verdict, quiet, logOdds, score } }, by, isKept: isStrong, isOver: false };
}

// Each rule is quiet up to the size that was judged for it. What was judged for another rule does not count.
function sizeOf(quiet: readonly Quieted[], by: readonly Quiet[]): number {
  const sizes = quiet.map(({ rule_id }) =>
    Math.max(...by.filter(({ rules }) => rules.includes(rule_id)).map(({ size }) => size)),
  );
  return Math.min(...sizes);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
