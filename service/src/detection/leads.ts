import { isOfSource, sourceOf, subjectOf, type RecordedActivity } from "../domain/activity.ts";
import type { Campaign } from "../domain/campaign.ts";
import { memberStateOf, type Member } from "../domain/member.ts";
import type { Origin, Thresholds } from "../domain/rule.ts";
import type { Source } from "../domain/source.ts";
import { instrumentSubject, payeeSubject } from "../domain/subject.ts";
import { ringSize } from "./catalogue.ts";
import { rounded, valueOf } from "./contributor.ts";
import { leastFor } from "./model/serving.ts";
import { isValue } from "./scene.ts";
import { scoreOf, sumOfWeights, type ActiveRule, type RatedByModel, type Verdict } from "./score.ts";
import type { RuleContext } from "./vector.ts";

export type Observed = Origin & {
  // The activity as it is stored, with its address reduced by the tenant's ip_policy.
  activity: RecordedActivity;
  source: Source;
  // The account that an unverified page named.
  claimed: string | undefined;
  // The source, if it names so many accounts that the finding is about the source.
  crowd: string | null;
  // The campaigns that the fired rules belong to, by rule id.
  campaigns: ReadonlyMap<string, Campaign>;
  at: number;
  context: RuleContext;
};

// The rules that fired about one subject. Each lead is judged separately. `account` is null if the subject is not an account.
export type Lead = {
  verdict: Verdict;
  subject: string;
  account: string | null;
  // The account that a case about the subject lists.
  member?: Member;
  // For a lead about an account: the source or the campaign of the attack that it belongs to.
  partOf?: string;
  // The size of the attack so far: the number of accounts or frauds, or the amount of an account's payment. 0 if not known.
  size: number;
};

type About = ActiveRule["rule"]["about"];
const isOneOf = (...kinds: About[]) => {
  const wanted = new Set(kinds);
  return ({ rule }: ActiveRule) => wanted.has(rule.about);
};
const isOfMoney = isOneOf("payee", "instrument");
const isOfCampaign = isOneOf("campaign");
const isOfAccount = isOneOf("account");

// Returns the leads of an activity, at least one, whatever their scores. For a failed log-in or a sign-up, rules about the source
// count against the source, and rules about the account count against the account. For other activity, all rules count against
// the account. Rules about a payee or an instrument also count against that, and alone they do not count against the account.
export function leadsOf(verdict: Verdict, observed: Observed): Lead[] {
  const { activity, crowd } = observed;
  const account = activity.website_account_id ?? null;
  if (crowd !== null) return [sourceLead(verdict, crowd, observed)];
  if (!isOfSource(activity)) return [...ownLeads(verdict, observed), ...moneyLeads(verdict, observed)];
  // If a model raises the score of a sign-up, its part counts only for the new account. If it lowers the score, it counts for
  // every subject.
  const ofAccount = partOf(verdict, (active) => account !== null && isOfAccount(active), account !== null || isLowered(verdict));
  const isRatedSource = account === null || isLowered(verdict);
  const isOfItsSource = (active: ActiveRule) => (account === null || !isOfAccount(active)) && !isOfCampaign(active);
  const ofSource = partOf(verdict, isOfItsSource, isRatedSource);
  const own: Lead = { verdict: ofAccount, subject: subjectOf(activity), account, size: 0 };
  const subject = sourceSubject(ofSource.fired, observed);
  if (ofSource.score < 3) return [own, ...campaignLeads(verdict, observed), sourceLead(ofSource, subject, observed)];
  // The source is an attack of its own, so it does not also belong to a campaign from many sources.
  const whole = partOf(verdict, (active) => ofSource.fired.includes(active) || isOfCampaign(active), isRatedSource);
  return [own, sourceLead(whole, subject, observed)];
}

// If only the payee or the instrument is suspicious, the account gets no lead of its own, because it is a victim. A declined
// payment did no harm, so a campaign that it belongs to does not count against the account.
function ownLeads(verdict: Verdict, observed: Observed): Lead[] {
  const { activity } = observed;
  const { fired } = verdict;
  if (activity.status === "declined" && fired.some(isOfCampaign))
    return [...ownLeads(withoutCampaigns(verdict), observed), ...campaignLeads(verdict, observed)];
  const isOwn = fired.length === 0 || !fired.every(isOfMoney) || ratioOf(verdict) > 0 || isRaised(verdict);
  if (!isOwn && moneyLeads(verdict, observed).length > 0) return [];
  const account = activity.website_account_id;
  return account === undefined ? [sourceLead(verdict, sourceOf(activity), observed)] : successLeads(verdict, observed, account);
}

function successLeads(verdict: Verdict, observed: Observed, account: string): Lead[] {
  const { activity, campaigns } = observed;
  const { fired } = verdict;
  const ofSource = fired.filter(isOneOf("device", "address", "network"));
  if (isOneOfManyEntries(verdict, observed)) return [sourceLead(verdict, sourceSubject(fired, observed), observed)];
  const [campaign] = fired.flatMap(({ rule }) => campaigns.get(rule.rule_id) ?? []);
  const attack = ofSource.length > 0 ? sourceSubject(ofSource, observed) : campaign?.subject;
  const size = amountIn(observed);
  return [{ verdict, subject: subjectOf(activity), account, size, ...(attack !== undefined && { partOf: attack }) }];
}

// Whether the log-in is suspicious only because of its source, and many of the source's log-ins succeed: at least half as many
// accounts as fail. Such log-ins come from people who share an event's Wi-Fi, or from somebody who has the right passwords of
// many accounts. They are one case about the source, which lists the account as entered. Guessed passwords are rarely right, so
// after a guessing attack, each entered account gets its own case.
function isOneOfManyEntries(verdict: Verdict, { activity, context: { ip, network } }: Observed): boolean {
  const { fired } = verdict;
  if (activity.type !== "login_succeeded" || fired.length === 0 || ratioOf(verdict) > 0 || isRaised(verdict)) return false;
  if (!fired.every(isOneOf("address", "network"))) return false;
  const { login_accounts_1h: entered, failed_accounts_1h: failed } = fired.some(isOneOf("address")) ? ip : network;
  return 2 * Number(entered) >= Number(failed);
}

function sourceLead(verdict: Verdict, subject: string, observed: Observed): Lead {
  return { verdict, subject, account: null, size: sizeOf(subject, observed.context), ...memberOf(observed) };
}

function campaignLeads(verdict: Verdict, observed: Observed): Lead[] {
  return verdict.fired.filter(isOfCampaign).flatMap(({ rule }): Lead[] => {
    const campaign = observed.campaigns.get(rule.rule_id);
    if (!campaign) return [];
    const own = partOf(verdict, (active) => active.rule === rule);
    return [{ verdict: own, ...campaign, account: null, ...memberOf(observed) }];
  });
}

function moneyLeads(verdict: Verdict, observed: Observed): Lead[] {
  const { activity } = observed;
  const subjects = [
    ["payee", payeeSubject(activity)],
    ["instrument", instrumentSubject(activity)],
  ] as const;
  return subjects.flatMap(([kind, subject]): Lead[] => {
    const own = subject === null ? [] : verdict.fired.filter(isOneOf(kind));
    if (subject === null || own.length === 0) return [];
    const size = countedBy(own, kind, observed.context);
    const lead = partOf(verdict, isOneOf(kind), isLowered(verdict));
    return [{ verdict: lead, subject, account: null, size, ...memberOf(observed) }];
  });
}

// An account that only a page names does not become a member.
function memberOf({ activity, source }: Observed): { member?: Member } {
  const { website_account_id: account } = activity;
  return account === undefined || source === "page" ? {} : { member: { account, state: memberStateOf(activity) } };
}

// Returns the source that the fired rules are about. A device is the source only if it makes up most of the attack from its
// address and from its network. Otherwise an attacker who uses a new device for every few tries would open a case for each: 100
// devices in one IPv6 /48, with five tries each, opened 101 cases. The same applies to an address and its network.
function sourceSubject(fired: ActiveRule[], { activity, address, network, context }: Observed): string {
  const about = new Set(fired.map(({ rule }) => rule.about));
  const isOfAddress = address !== null && (about.has("address") || (about.has("device") && isCrowded(context)));
  const isOfNetwork = about.has("network") && network !== "";
  const isWider = (isOfAddress && isOneOfMany(context)) || (isOfNetwork && isSpread(context.device, context));
  if (about.has("device") && !isWider) return sourceOf(activity);
  if (isOfAddress && !(isOfNetwork && isSpread(context.ip, context))) return address;
  return isOfNetwork ? `network:${network}` : sourceOf(activity);
}

const attackMin = 3;

// Whether the address alone would be an attack.
function isCrowded({ event, ip }: RuleContext): boolean {
  return Number(ip[countName(event)]) >= attackMin;
}

// Whether other devices at the same address make up half of the attack or more. If the address's count has reached its maximum,
// the true number may be higher, so this is assumed. For an IPv6 sign-up, the address is its whole block.
function isOneOfMany({ event, device, ip }: RuleContext): boolean {
  const name = countName(event);
  const inBlock = event["type"] === "signup" ? Number(ip["block_signups_1h"] ?? 0) : 0;
  const [onDevice, onAddress] = [Number(device[name]), Math.max(Number(ip[name]), inBlock)];
  return onAddress >= ringSize || 2 * onDevice <= onAddress;
}

function countName(event: RuleContext["event"]): string {
  return event["type"] === "signup" ? "signups_24h" : "failed_accounts_1h";
}

// Whether the rest of the network makes up half of the attack or more.
function isSpread(part: RuleContext["device" | "ip"], { network }: RuleContext): boolean {
  return 2 * Number(part["failed_accounts_1h"]) <= Number(network["failed_accounts_1h"]);
}

// A count that has reached its maximum may stand for any number. So its size is more than twice any other count, and no smaller
// attack covers it.
function sizeOf(subject: string, { device, ip, network }: RuleContext): number {
  const group = subject.startsWith("device:") ? device : subject.startsWith("ip:") ? ip : network;
  const inBlock = group === network ? Number(ip["block_signups_1h"] ?? 0) : 0;
  const size = Math.max(inBlock, ...["failed_accounts_1h", "signups_24h"].map((name) => Number(group[name] ?? 0)));
  return size < ringSize ? size : 2 * ringSize;
}

// Returns the largest count that the rules about a payee or an instrument read.
function countedBy(fired: ActiveRule[], kind: "payee" | "instrument", context: RuleContext): number {
  const isCount = new RegExp(`^${kind}\\.(new_accounts|strangers|frauds|declined)_`);
  const counts = fired.flatMap(({ compiled }) => compiled.reads.filter((name) => isCount.test(name)));
  return Math.max(0, ...counts.map((name) => Number(valueOf(context, name))));
}

// The largest value of the column that stores it.
const sizeMax = 2 ** 31 - 1;

// Returns the amount of a payment or a transfer. Without it, a small payment that was closed as a false positive would cover a
// large one.
function amountIn({ activity, context }: Observed): number {
  return isValue(activity.type) ? Math.min(Math.max(Math.ceil(Number(context.event["value"])), 0), sizeMax) : 0;
}

function partOf(verdict: Verdict, isIncluded: (active: ActiveRule) => boolean, hasModel = false): Verdict {
  const fired = verdict.fired.filter(isIncluded);
  const rules = sumOfWeights(fired);
  const model = hasModel && verdict.model ? modelOn(verdict.model, rules, verdict.thresholds) : null;
  const logOdds = model ? rounded(rules + model.part) : rules;
  const score = scoreOf(logOdds, verdict.thresholds, verdict.source);
  return { ...verdict, fired, ratio: null, ratioParts: [], model, logOdds, score };
}

// Fewer rules have a lower sum, so a model that may not lower a score has less room.
function modelOn(model: RatedByModel, rules: number, thresholds: Thresholds): RatedByModel {
  const least = model.isHeld ? leastFor(rules, thresholds) : undefined;
  return least === undefined ? model : { ...model, part: Math.max(model.part, rounded(least - rules)) };
}

function withoutCampaigns(verdict: Verdict): Verdict {
  const logOdds = rounded(verdict.logOdds - sumOfWeights(verdict.fired.filter(isOfCampaign)));
  const fired = verdict.fired.filter((active) => !isOfCampaign(active));
  return { ...verdict, fired, logOdds, score: scoreOf(logOdds, verdict.thresholds, verdict.source) };
}

// Whether the model raised the log-odds.
function isRaised({ model }: Verdict): boolean {
  return (model?.part ?? 0) > 0;
}

function isLowered({ model }: Verdict): boolean {
  return (model?.part ?? 0) < 0;
}

export function ratioOf({ ratioParts }: Verdict): number {
  return ratioParts.reduce((sum, [, part]) => sum + part, 0);
}
