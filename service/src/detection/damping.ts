import { isOfSource } from "../domain/activity.ts";
import { blockOf } from "../domain/address.ts";
import { payeeSubject } from "../domain/subject.ts";
import type { Lead } from "./leads.ts";
import type { EnrichedActivity } from "./scene.ts";
import { isListRule, modelRecordId, scoreOf, type Damped, type Verdict } from "./score.ts";

export const rememberedDays = 30;
export const rememberedMs = rememberedDays * 24 * 60 * 60 * 1000;
// A false positive covers an attack of up to this many times the size that was judged. So nobody can hide a large attack behind a
// small mistake.
const growthMax = 2;

// What an investigator decided about a case in which the rule fired on a look-alike.
export type PastOutcome = { case_id: string; isFraud: boolean; decidedMs: number; size: number };

// Returns what the activity would share with a look-alike. If the lead is about an account, a look-alike is the same account on
// the same device or in the same block of addresses. The payee counts only if neither is known, because a thief may pay the same
// shop as the owner. Evidence about an account is never damped by a false positive about a source, because others use the source
// too. If the lead is about a source, a look-alike is the same source, device or block. If the activity attacks no account, the
// same user agent in the same network is a look-alike too, because a robot changes everything else.
export function traitsOf({ subject, account }: Lead, { activity, network }: EnrichedActivity): string[] {
  const { device_id: device, ip, user_agent: agent } = activity;
  const sources = [device === undefined ? [] : `device:${device}`, ip === undefined ? [] : `block:${blockOf(ip)}`].flat();
  if (account !== null) {
    const like = sources.length > 0 ? sources : [payeeSubject(activity) ?? []].flat();
    // As JSON, because an id may contain anything. Otherwise the id of one account could look like another account with its
    // device.
    return (like.length === 0 ? [""] : like).map((each) => `account:${JSON.stringify([account, each])}`);
  }
  if (/^(campaign|payee|instrument):/.test(subject)) return [subject];
  const isOfNobody = activity.website_account_id === undefined && !isOfSource(activity) && network !== "" && agent !== undefined;
  return [...new Set([subject, ...sources, ...(isOfNobody ? [`look:${network} ${agent}`] : [])])];
}

// Returns how much the past outcomes subtract from the rule's weight: all of it right after a false positive, and nothing after
// 30 days. A confirmed fraud ends the effect of everything before it.
export function dampingOf(
  weight: number,
  past: PastOutcome[],
  { at, size }: { at: number; size: number },
): Omit<Damped, "rule_id"> | null {
  const lastFraud = Math.max(0, ...past.filter(({ isFraud }) => isFraud).map(({ decidedMs }) => decidedMs));
  const shares = new Map<string, number>();
  for (const { case_id, isFraud, decidedMs, size: judged } of past) {
    // Live activity may be scored a little after its time, so an outcome may be newer than the activity.
    const age = Math.max(at - decidedMs, 0);
    if (isFraud || decidedMs <= lastFraud || age >= rememberedMs) continue;
    if (judged > 0 && size > growthMax * judged) continue;
    shares.set(case_id, 1 - age / rememberedMs);
  }
  if (shares.size === 0) return null;
  const share = Math.min(
    [...shares.values()].reduce((sum, each) => sum + each, 0),
    1,
  );
  return { logOdds: -rounded(weight * share), times: shares.size };
}

// Lowers the log-odds of a lead because of earlier false positives of its rules, and of the model if it raised the lead.
export function dampedLead(lead: Lead, pastOf: (ruleId: string) => PastOutcome[], at: number): Lead {
  const damped = accusersOf(lead.verdict).flatMap(({ rule_id, weight }): Damped[] => {
    const found = dampingOf(weight, pastOf(rule_id), { at, size: lead.size });
    return found ? [{ rule_id, ...found }] : [];
  });
  return damped.length === 0 ? lead : { ...lead, verdict: withDamped(lead.verdict, damped) };
}

// Returns the rules and the model that count against the subject, with the ids under which outcomes are recorded. A false
// positive does not weaken a block list: somebody has to remove the entry.
export function accusersOf({ fired, model }: Verdict): { rule_id: string; weight: number }[] {
  const rules = fired.filter((active) => !isListRule(active)).map(({ rule: { rule_id, weight } }) => ({ rule_id, weight }));
  return model && model.part > 0 ? [...rules, { rule_id: modelRecordId(model), weight: model.part }] : rules;
}

function withDamped(verdict: Verdict, damped: Damped[]): Verdict {
  const logOdds = rounded(damped.reduce((sum, each) => sum + each.logOdds, verdict.logOdds));
  return { ...verdict, damped, logOdds, score: scoreOf(logOdds, verdict.thresholds, verdict.source) };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
