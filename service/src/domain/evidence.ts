import type { Finding, FindingIds, Occurrence } from "./finding.ts";
import { sources, sourceWords, type Source } from "./source.ts";

// Without a limit, a case would grow without bound during a long attack, and every change writes the whole case. The log keeps
// everything.
export const occurrencesShownMax = 200;
const claimScoreMax = 3;

type Occurrences = Record<string, Occurrence>;
type Details = { overall_risk_score: number; claimed_accounts?: string[] };
type Evidenced = { details: Details; fraud_occurrences: Occurrences };

// Anybody can send what a page claims. So it counts for at most score 3 and MONITOR, and is never a report.
export function believed(finding: Finding): Finding {
  if (finding.source !== "page") return finding;
  const { isReport: _isReport, ...claim } = finding;
  return { ...claim, score: claim.score > claimScoreMax ? claimScoreMax : claim.score, action: "MONITOR" };
}

// Compares two pieces of evidence. The strongest comes first, and its story is the headline of the case: the highest score, then
// what more than a page says, what succeeded, the most log-odds, and the most trusted source. Among equals the first stays, so
// later noise changes nothing. `npm run generate` copies this function into the client.
export function compareEvidence(one: Occurrence, other: Occurrence): number {
  const [a, b] = [one, other].map(({ risk_score, is_attempt, explanation, generated_at }) => {
    const { evidence_source: source = "server", model_behaviour: models } = explanation;
    const parts = (models ?? []).flatMap(({ top_contributors }) => top_contributors);
    const logOdds = parts.reduce((sum, { shap_value }) => sum + Math.round(shap_value * 1000), 0);
    const trusts = [source === "page" ? 0 : 1, is_attempt === true ? 0 : 1, logOdds, source === "server" ? 1 : 0];
    return [risk_score, ...trusts, -Date.parse(generated_at)];
  });
  const differences = (a ?? []).map((weight, place) => (b?.[place] ?? 0) - weight);
  return differences.find((each) => each !== 0) ?? 0;
}

export function newOccurrence(finding: Finding, ids: FindingIds, now: string): Occurrence {
  const seenAt = ids.seen_at ?? now;
  return {
    occurrence_id: ids.occurrence_id,
    prediction_id: ids.prediction_id,
    session_id: finding.session_id ?? "",
    ...(finding.activity_type !== undefined && { activity_type: finding.activity_type }),
    ...(finding.isAttempt && { is_attempt: true as const }),
    generated_at: now,
    risk_score: finding.score,
    count: 1,
    first_at: seenAt,
    last_at: seenAt,
    explanation: { ...finding.explanation, evidence_source: finding.source, evidence: sourceWords[finding.source] },
  };
}

// Whether the case already contains all of this: the same rules, from a source that is trusted at least as much, and no higher
// score. Sessions, devices, addresses and times do not matter, because a sender can choose them. Otherwise every event of a flood
// would change the version of the case, and nobody could close it.
export function isRepeat({ details, fraud_occurrences: occurrences }: Evidenced, found: Finding): boolean {
  const finding = believed(found);
  if (finding.isReport || finding.score > details.overall_risk_score) return false;
  const reasons = reasonsOf(finding.explanation);
  if (reasons.length === 0) return false;
  if (isFullFor(finding.source, occurrences)) return true;
  const known = new Set(
    Object.values(occurrences)
      .filter((each) => trustIn(sourceOf(each)) >= trustIn(finding.source))
      .flatMap((each) => reasonsOf(each.explanation)),
  );
  return reasons.every((reason) => known.has(reason));
}

// A full case takes no more evidence from a page or a verified session, unless it can drop evidence from a less trusted source.
// Otherwise the dropped evidence would count as new again, and could change the version without end.
function isFullFor(source: Source, occurrences: Occurrences): boolean {
  const all = Object.values(occurrences);
  if (source === "server" || all.length < occurrencesShownMax) return false;
  return !all.some((each) => trustIn(sourceOf(each)) < trustIn(source));
}

// Counts the repeat with the evidence of the same source that shares most of its reasons. If only a more trusted source has
// reported it, nothing is counted: a page's repeat must not look like something that a server saw.
export function countRepeat<T extends Evidenced>(found: T, finding: Finding, seenAt: string): T {
  const open = withClaimed(found, finding);
  const reasons = new Set(reasonsOf(finding.explanation));
  const likenessOf = ({ explanation }: Occurrence) => {
    const own = reasonsOf(explanation);
    const shared = own.filter((reason) => reasons.has(reason)).length;
    // If two share the same number, the one with fewer other reasons is better.
    return shared === 0 ? 0 : shared + 1 / (1 + own.length);
  };
  const best = Object.values(open.fraud_occurrences)
    .filter((each) => sourceOf(each) === finding.source && likenessOf(each) > 0)
    .reduce<Occurrence | null>((most, each) => (most && likenessOf(most) > likenessOf(each) ? most : each), null);
  if (!best) return open;
  const { count = 1, first_at = best.generated_at, last_at = best.generated_at } = best;
  const counted: Occurrence = {
    ...best,
    count: count + 1,
    first_at: seenAt < first_at ? seenAt : first_at,
    last_at: seenAt > last_at ? seenAt : last_at,
  };
  return { ...open, fraud_occurrences: { ...open.fraud_occurrences, [best.occurrence_id]: counted } };
}

const claimedAccountsMax = 100;

// The accounts that a source's pages named. The case lists only the first ones, up to the maximum.
export function claimedAccounts(listed: string[] | undefined, { claimed }: Finding): { claimed_accounts?: string[] } {
  if (claimed === undefined || listed?.includes(claimed) === true || (listed?.length ?? 0) >= claimedAccountsMax)
    return listed ? { claimed_accounts: listed } : {};
  return { claimed_accounts: [...(listed ?? []), claimed] };
}

function withClaimed<T extends Evidenced>(open: T, finding: Finding): T {
  const before = open.details.claimed_accounts;
  const { claimed_accounts: after } = claimedAccounts(before, finding);
  return after === before ? open : { ...open, details: { ...open.details, claimed_accounts: after } };
}

// Adds the new evidence. If there is too much, evidence from the least trusted source is dropped first. Within a source, reports
// are dropped last, and among the rest the weakest first, then the oldest.
export function addOccurrence(occurrences: Occurrences, added: Occurrence): Occurrences {
  const kept = Object.values(occurrences);
  while (kept.length >= occurrencesShownMax) {
    const least = kept.reduce((least, each) => (isLess(each, least) ? each : least));
    kept.splice(kept.indexOf(least), 1);
  }
  return Object.fromEntries([...kept, added].map((each) => [each.occurrence_id, each]));
}

function isLess(one: Occurrence, other: Occurrence): boolean {
  const [a, b] = [weightsOf(one), weightsOf(other)];
  const index = a.findIndex((weight, place) => weight !== b[place]);
  return (a[index] ?? 0) < (b[index] ?? 0);
}

function weightsOf(each: Occurrence): number[] {
  return [trustIn(sourceOf(each)), reasonsOf(each.explanation).includes("reported_fraud") ? 1 : 0, each.risk_score];
}

// Evidence from before sources were stored was fully trusted.
function sourceOf({ explanation }: Occurrence): Source {
  return explanation.evidence_source ?? "server";
}

function trustIn(source: Source): number {
  return sources.indexOf(source);
}

function reasonsOf({ model_behaviour: models }: Finding["explanation"]): string[] {
  return (models ?? []).map((model) => model.model_name);
}
