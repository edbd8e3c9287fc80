import type { RuleHits, RuleSubject } from "../db/rules.ts";
import { allowedLead } from "../detection/allowing.ts";
import { observe } from "../detection/features.ts";
import { reasonsFor, findingsOf, type Found } from "../detection/finding.ts";
import { leadsOf, type Lead, type Observed } from "../detection/leads.ts";
import { listRuleId } from "../detection/list-rules.ts";
import { listedEvent } from "../detection/listed-event.ts";
import { labelsOf } from "../detection/policy-labels.ts";
import { ringHash } from "../detection/ring-hash.ts";
import type { EnrichedActivity, Scene } from "../detection/scene.ts";
import { decisionText, isListRule, judge, type RuleSet, type Verdict } from "../detection/score.ts";
import { timeOf, type RecordedActivity } from "../domain/activity.ts";
import { blockOf, hostOf } from "../domain/address.ts";
import type { Campaign, Campaigns } from "../domain/campaign.ts";
import type { Label } from "../domain/finding.ts";
import { instrumentIdOf } from "../domain/instrument.ts";
import { addressSubject, hitSubject } from "../domain/rule.ts";
import type { Source } from "../domain/source.ts";
import type { Damper, TracedLead } from "./damper.ts";
import type { Memory } from "./memory.ts";
import type { Snoozer } from "./snoozer.ts";

// What is kept of an event after it is judged. Its context of about a hundred values is dropped, because the contexts of a batch
// would take most of the engine's memory.
export type Judged = {
  id_key: string;
  // The activity as it is stored, with its address reduced by the tenant's ip_policy.
  activity: RecordedActivity;
  source: Source;
  claimed_account_id: string | null;
  score: number;
  decision: string;
  // The labels of the evidence, and whether the evidence is about the activity's account. The policy reads both.
  labels: Label[];
  isOfAccount: boolean;
  // The names of the lists that the activity hit.
  lists: readonly string[];
  hits: Hit[];
  // How often lists were hit, by day.
  listHits: RuleHits[];
  found: Found[];
  // Set if the sender waits for the verdict.
  evidence?: Evidence;
};
type Evidence = { logOdds: number; reasons: ReturnType<typeof reasonsFor> };
type Hit = Omit<RuleSubject, "hits"> & { day: string };

// An event that is suspicious enough for a case, or whose rules may be quiet. Its judgement waits for the outcomes of look-alikes
// and for the snoozes. Both are read once for the whole batch.
export type Suspended = { leads: TracedLead[]; resume: () => Judged };

export function isSuspended(each: Judged | Suspended): each is Suspended {
  return "resume" in each;
}

export type Bench = {
  memory: Memory;
  set: RuleSet;
  campaigns: Campaigns;
  damper: Damper;
  snoozer: Snoozer;
  keepIp: (ip: string) => string;
  nowMs: number;
};

export type Enriched = { id_key: string; event: EnrichedActivity };

export function judgeOne(
  { memory, set, campaigns, damper, snoozer, keepIp, nowMs }: Bench,
  { id_key, event }: Enriched,
): Judged | Suspended {
  const scene = memory.scene(event);
  const { context, ratio, isShared } = observe(scene);
  const { ip } = event.activity;
  const kept = ip === undefined ? undefined : keepIp(ip);
  if (set.lists) context.lists = set.lists.view(listedEvent(event, kept), nowMs);
  const verdict = judge(context, set, ratio);
  if (isShared) memory.learnLogin(event);
  if (verdict.score >= 3) memory.suspectHeld(event);
  const activity = kept === undefined ? event.activity : { ...event.activity, ip: kept };
  const { source, claimed, at } = event;
  // Without an autonomous system the network is a block of addresses, which follows the tenant's ip_policy too.
  const network = event.network.includes("/") ? keepIp(event.network) : event.network;
  const crowd = crowdSubject(event, keepIp);
  const address = addressSubject(ip, keepIp);
  const joined = campaignsOf(campaigns, verdict, scene);
  const observed = { activity, source, claimed, crowd, at, address, network, context, campaigns: joined };
  const finish = (leads: (Lead & { traits?: string[] })[]): Judged => {
    // The strongest lead decides the score, and its case is the one that is stored with the activity.
    const allowed = context.lists ? leads.map((lead) => allowedLead(lead, observed)) : leads;
    const byStrength = allowed.toSorted((a, b) => b.verdict.logOdds - a.verdict.logOdds);
    const found = findingsOf(byStrength, observed, nowMs);
    const strongest = decidingLeadOf(byStrength);
    const decided = strongest?.verdict ?? verdict;
    const report = found.find(({ finding }) => finding.isReport);
    return {
      id_key,
      activity,
      source,
      claimed_account_id: activity.website_account_id === undefined ? (claimed ?? null) : null,
      score: found[0]?.finding.score ?? decided.score,
      decision: decisionText(verdict, context, decided),
      labels: report ? [report.finding.label] : labelsOf(decided),
      isOfAccount: (report ?? strongest)?.account !== null,
      lists: context.lists ? [...context.lists.names] : noLists,
      hits: hitsOf(verdict, observed, { campaigns, leads }),
      listHits: listHitsOf(observed),
      found,
      ...(activity.prediction_id !== undefined && {
        evidence: { logOdds: decided.logOdds, reasons: reasonsFor(decided, observed, nowMs) },
      }),
    };
  };
  const leads = leadsOf(verdict, observed);
  if (!leads.some((lead) => lead.verdict.score >= 3) && !snoozer.concerns(leads, observed)) return finish(leads);
  const traced = leads.map((lead) => damper.trace(lead, event));
  return { leads: traced, resume: () => finish(traced.map((lead) => damper.damp(snoozer.quiet(lead, observed), at))) };
}

// Returns the rules that count for no subject, because they are quiet about every subject that they fired for.
function quietIn(leads: Lead[]): Set<string> {
  const isCounting = (id: string) =>
    leads.some(({ verdict: { fired, quiet } }) => fired.some(({ rule }) => rule.rule_id === id) && !quiet.some(isOf(id)));
  const ids = leads.flatMap(({ verdict }) => verdict.quiet.map(({ rule_id }) => rule_id));
  return new Set(ids.filter((id) => !isCounting(id)));
}

function isOf(id: string): (each: { rule_id: string }) => boolean {
  return ({ rule_id }) => rule_id === id;
}

const noLists: readonly string[] = [];
const noCampaigns: ReadonlyMap<string, Campaign> = new Map();

// If a lead was lowered by an allow list, the decision shows that one, unless another has a higher score.
function decidingLeadOf(byStrength: Lead[]): Lead | undefined {
  const [top] = byStrength;
  return byStrength.find(({ verdict }) => verdict.allowed && verdict.score === top?.verdict.score) ?? top;
}

// A page can send any time, so for a page the time of receipt is used.
function campaignsOf(campaigns: Campaigns, { fired }: Verdict, { event, ringKey }: Scene): ReadonlyMap<string, Campaign> {
  const { activity, source, at, claimed } = event;
  const seenAt = source === "page" ? Date.parse(activity.received_at) : at;
  const wanted = fired.filter(({ rule }) => rule.about === "campaign");
  if (wanted.length === 0) return noCampaigns;
  const target = instrumentIdOf(activity) ?? activity.website_account_id ?? claimed;
  const hashed = target === undefined ? 0 : ringHash(target, ringKey);
  return new Map(wanted.map(({ rule }) => [rule.rule_id, campaigns.see(rule.rule_id, seenAt, hashed)]));
}

function crowdSubject({ activity, crowd }: EnrichedActivity, keepIp: (ip: string) => string): string | null {
  const { device_id: device, ip } = activity;
  if (crowd === "device" && device !== undefined) return `device:${device}`;
  if (crowd === "ip" && ip !== undefined) return `ip:${hostOf(keepIp(ip))}`;
  return crowd === "block" && ip !== undefined ? `network:${keepIp(blockOf(ip))}` : null;
}

type HitContext = { campaigns: Campaigns; leads: Lead[] };

function hitsOf({ fired: all, shadow }: Verdict, observed: Observed, { campaigns, leads }: HitContext): Hit[] {
  const fired = all.filter((active) => !isListRule(active));
  if (fired.length === 0 && shadow.length === 0) return [];
  const quiet = quietIn(leads);
  const { activity, context } = observed;
  const { activity_id, website_account_id, occurred_at } = activity;
  const at = new Date(timeOf(activity)).toISOString();
  const campaignOf = (ruleId: string) => observed.campaigns.get(ruleId)?.subject ?? campaigns.peek(ruleId, observed.at);
  return [...fired, ...shadow].map(({ rule, sentence }, index) => ({
    rule_id: rule.rule_id,
    is_shadow: index >= fired.length || quiet.has(rule.rule_id),
    // The day on which it happened, not the day on which it was reported.
    day: at.slice(0, 10),
    subject: observed.crowd ?? hitSubject(activity, rule.about, { ...observed, campaign: campaignOf(rule.rule_id) }),
    at,
    last_activity: {
      activity_id,
      ...(website_account_id !== undefined && { website_account_id }),
      occurred_at,
      sentence: sentence.render(context),
    },
  }));
}

function listHitsOf({ activity, context: { lists } }: Observed): RuleHits[] {
  if (!lists || lists.names.size === 0) return [];
  const day = new Date(timeOf(activity)).toISOString().slice(0, 10);
  return [...lists.names].map((name) => ({ rule_id: listRuleId(name), is_shadow: false, day, hits: 1 }));
}
