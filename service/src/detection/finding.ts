import { isOfSource, sessionIdleMs, sourceOf, subjectOf, type RecordedActivity } from "../domain/activity.ts";
import { firstCharacters } from "../domain/field.ts";
import { fraudTypeOf, type Finding, type Label } from "../domain/finding.ts";
import type { Origin } from "../domain/rule.ts";
import type { Source } from "../domain/source.ts";
import { fields, never, ringSize, zeroOf, type Field, type FeatureValue } from "./catalogue.ts";
import { scoreReport } from "./report.ts";
import { scoreOf, type ActiveRule, type Part, type Score, type Verdict } from "./score.ts";
import { findPlace, type RuleContext } from "./vector.ts";

// A finding and the subject of its case. `account` is null if the case has no account.
export type Found = { finding: Finding; subject: string; account: string | null; activity: RecordedActivity };

export type Observed = Origin & {
  // The activity as it is stored: its address follows the tenant's ip_policy.
  activity: RecordedActivity;
  source: Source;
  // The account that an unverified page named.
  claimed: string | undefined;
  // The source that the finding is about, if it names more accounts than its history explains.
  crowd: string | null;
  at: number;
  context: RuleContext;
};

const contributorsMax = 8;
const sourceCharacters = 100;
const fieldOf = new Map(fields.map((field) => [field.name, field]));
const fraudHistory = new Set([
  "account.reports",
  "account.confirmed_frauds",
  "account.is_fraudulent",
  "device.confirmed_frauds",
  "device.confirmed_frauds_90d",
]);

// Returns up to two findings. For a failed log-in or a sign-up, rules about the source lead to a case about the source, and rules
// about the account lead to a case about the account.
export function findingsOf(verdict: Verdict, observed: Observed, nowMs: number): Found[] {
  const { activity, crowd } = observed;
  const report = scoreReport(activity, nowMs);
  const account = crowd === null ? (activity.website_account_id ?? null) : null;
  if (report) return [{ finding: report, subject: subjectOf(activity), account, activity }];
  if (!isOfSource(activity)) {
    const finding = verdict.score >= 3 ? makeFinding(verdict, observed, nowMs) : null;
    if (!finding) return [];
    const subject = crowd ?? subjectOf(activity);
    if (account !== null) return [{ finding, subject, account, activity }];
    return [{ ...sourced(finding, subject, observed), account, activity }];
  }
  const ofAccount = partOf(verdict, ({ rule }) => account !== null && rule.about === "account");
  const ofSource = partOf(verdict, ({ rule }) => account === null || rule.about !== "account");
  const found: Found[] = [];
  if (ofAccount.score >= 3)
    found.push({ finding: makeFinding(ofAccount, observed, nowMs), subject: subjectOf(activity), account, activity });
  if (ofSource.score >= 3)
    found.push({
      ...sourced(makeFinding(ofSource, observed, nowMs), sourceSubject(ofSource, observed), observed),
      account: null,
      activity,
    });
  return found;
}

// The score that is stored with the activity. If the rules about the account and those about the source are judged separately,
// their sum has no meaning.
export function scoreOfFindings(found: Found[], verdict: Verdict, activity: RecordedActivity): number {
  const most = found.reduce<number>((score, { finding }) => Math.max(score, finding.score), 1);
  if (!isOfSource(activity)) return Math.max(most, verdict.score);
  return found.length === 0 ? Math.min(verdict.score, 2) : most;
}

const sourceWords: Record<string, string> = { device: "device", session: "session", ip: "address", network: "network" };

// A case without an account must say where the attack came from.
function sourced(finding: Finding, subject: string, { claimed, activity }: Observed): { finding: Finding; subject: string } {
  const [kind = "", ...name] = subject.split(":");
  const words = sourceWords[kind];
  const from = words === undefined ? [] : [`It came from the ${words} ${shownName(kind, name.join(":"), activity)}.`];
  const highlights = [...finding.highlights, ...from];
  return { finding: { ...finding, highlights, ...(claimed !== undefined && { claimed }) }, subject };
}

// Ids are quoted, so that an id never reads as part of the sentence. If a page chose the id, other characters than those of usual
// ids are left out.
function shownName(kind: string, name: string, { origin }: RecordedActivity): string {
  if (kind !== "device" && kind !== "session") return firstCharacters(name, sourceCharacters);
  const shown = origin === "browser" ? name.replace(/[^\w.:-]/g, "") : name.replaceAll('"', "'");
  return `"${firstCharacters(shown, sourceCharacters)}"`;
}

// Returns the source that the fired rules are about. If they are about a device and its address, it is the device only if that
// alone makes up most of the attack. Otherwise an attacker who takes a new device for every few tries would open a case for each.
// The same applies to an address and its network.
function sourceSubject({ fired }: Verdict, { activity, address, network, crowd, context }: Observed): string {
  if (crowd !== null) return crowd;
  const about = new Set(fired.map(({ rule }) => rule.about));
  const isOfAddress = about.has("address") && address !== null;
  const isOfNetwork = about.has("network") && network !== "";
  if (about.has("device") && !(isOfAddress && isOneOfMany(context))) return sourceOf(activity);
  if (isOfAddress && !(isOfNetwork && isSpread(context))) return address;
  return isOfNetwork ? `network:${network}` : sourceOf(activity);
}

// Whether other devices at the same address make up half of the attack or more. If the address's count is full, the real number
// may be higher, so the answer is yes.
function isOneOfMany({ event, device, ip }: RuleContext): boolean {
  const name = event["type"] === "signup" ? "signups_24h" : "failed_accounts_1h";
  const [onDevice, onAddress] = [Number(device[name]), Number(ip[name])];
  return onAddress >= ringSize || 2 * onDevice <= onAddress;
}

// Whether other addresses of the same network make up half of the attack or more.
function isSpread({ ip, network }: RuleContext): boolean {
  return 2 * Number(ip["failed_accounts_1h"]) <= Number(network["failed_accounts_1h"]);
}

function partOf(verdict: Verdict, isIncluded: (active: ActiveRule) => boolean): Verdict {
  const fired = verdict.fired.filter(isIncluded);
  const logOdds = fired.reduce((sum, { rule }) => sum + rule.weight, 0);
  return { ...verdict, fired, ratio: null, ratioParts: [], logOdds, score: scoreOf(logOdds, verdict.thresholds, verdict.source) };
}

function makeFinding(verdict: Verdict, { activity, at, context, source }: Observed, nowMs: number): Finding {
  const { score } = verdict;
  const rules = verdict.fired.toSorted((a, b) => b.rule.weight - a.rule.weight);
  const label = heaviestLabel(verdict);
  const reasons = reasonsOf(verdict, rules, context);
  const [first] = reasons;
  const others = reasons.length - 1;
  const labels = new Set<Label>([label, ...rules.map(({ rule }) => rule.label)]);
  return {
    score,
    label,
    // Anybody can send page events, so they never lead to more than monitoring.
    action: source === "page" ? "MONITOR" : actionOf(score, label, hasFraudHistory(rules, context)),
    summary: `${first?.sentence ?? ""}${others > 0 ? ` And ${others} more ${others === 1 ? "reason" : "reasons"}.` : ""}`,
    highlights: reasons.map(({ sentence }) => sentence),
    source,
    session_id: activity.session_id,
    session_status: activity.session_id !== undefined && nowMs - at < sessionIdleMs ? "ACTIVE" : "FINISHED",
    explanation: {
      fraud_reason: first?.name ?? "",
      fraud_reason_description: first?.sentence ?? "",
      fraud_types: [...labels].map((each) => fraudTypeOf[each]),
      model_behaviour: [...rules.map((active) => ruleModel(active, context)), ...ratioModel(verdict)],
    },
  };
}

type Reason = { name: string; sentence: string; weight: number };

// Returns the reasons, heaviest first. A usual log-in is evidence for the owner, so it is not a reason.
function reasonsOf(verdict: Verdict, rules: ActiveRule[], context: RuleContext): Reason[] {
  const reasons = rules.map(({ rule, sentence }) => ({
    name: rule.name,
    sentence: sentence.render(context),
    weight: rule.weight,
  }));
  const ratio = ratioOf(verdict);
  if (ratio > 0) reasons.push({ name: "Unusual log-in", sentence: ratioWords(verdict, context), weight: ratio });
  return reasons.toSorted((a, b) => b.weight - a.weight);
}

// The likelihood ratio is evidence of an account takeover and of nothing else.
function heaviestLabel(verdict: Verdict): Label {
  const weights = new Map<Label, number>();
  for (const { rule } of verdict.fired) weights.set(rule.label, (weights.get(rule.label) ?? 0) + rule.weight);
  const ratio = ratioOf(verdict);
  if (ratio > 0) weights.set("Account Takeover", (weights.get("Account Takeover") ?? 0) + ratio);
  const [heaviest] = [...weights].toSorted(([, a], [, b]) => b - a);
  return heaviest?.[0] ?? "Account Takeover";
}

function ratioOf({ ratioParts }: Verdict): number {
  return ratioParts.reduce((sum, [, part]) => sum + part, 0);
}

function hasFraudHistory(rules: ActiveRule[], context: RuleContext): boolean {
  return rules.some(({ compiled }) => compiled.reads.some((name) => isFraudHistory(context, name)));
}

// A rule may read a fraud field and fire because there is no fraud, so the value is checked too.
function isFraudHistory(context: RuleContext, name: string): boolean {
  const value = fraudHistory.has(name) && valueOf(context, name);
  return value === true || (typeof value === "number" && value > 0);
}

function actionOf(score: Score, label: Label, isKnownFraud: boolean): Finding["action"] {
  if (isKnownFraud) return "ESCALATE";
  if (score === 5) return "BLOCK";
  if (score === 4) return "CHALLENGE";
  return label === "Account Takeover" ? "CHALLENGE" : "MONITOR";
}

type Model = NonNullable<Finding["explanation"]["model_behaviour"]>[number];
type Contributor = Model["top_contributors"][number];

function ruleModel({ rule, compiled }: ActiveRule, context: RuleContext): Model {
  // The event's type says when the rule applies, not why it fired.
  const told = compiled.reads.filter((name) => name !== "event.attributes" && name !== "event.type");
  const reads = (told.length === 0 ? ["event.type"] : told).slice(0, contributorsMax);
  const share = rounded(rule.weight / reads.length);
  // The first contributor gets the rounding difference, so that the shares sum to the weight.
  const first = rule.weight - share * (reads.length - 1);
  return {
    type: "rule",
    model_name: rule.rule_id,
    top_contributors: reads.map((name, index) =>
      contributor(fieldOf.get(name), { name, value: valueOf(context, name), logOdds: index === 0 ? first : share }),
    ),
  };
}

function ratioModel({ ratio, ratioParts }: Verdict): Model[] {
  if (!ratio) return [];
  const top = ratioParts.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, contributorsMax);
  const contributors = top.map(([name, logOdds]) => {
    const kind = name.slice("login.".length);
    const words = ratioNames[kind] ?? kind;
    const value = name === limitName ? "limited" : logOdds > 0 ? "unusual" : "usual";
    return { ...contributor(undefined, { name, value, logOdds }), plain_name: words };
  });
  return [{ type: "likelihood_ratio", model_name: "login_ratio", top_contributors: contributors }];
}

// Stands for what the limit on a single log-in cut off the parts. It is not a habit, so it ranks last.
const limitName = "login.usual";
function sizeOf([name, part]: Part): number {
  return name === limitName ? 0 : Math.abs(part);
}

const ratioNames: Record<string, string> = {
  country: "Country",
  asn: "Network",
  ip: "Address",
  os: "Operating system",
  browser: "Browser",
  agent: "User agent",
  device: "Device",
  usual: "Limit for one log-in",
};

function ratioWords({ ratio }: Verdict, context: RuleContext): string {
  const isNew = (ratio?.parts ?? [])
    .filter(([, part]: Part) => part > 0.5)
    .map(([name]) => `${(ratioNames[name] ?? name).toLowerCase()}${ratioValue(name, context)}`);
  const what = isNew.length === 0 ? "The combination of values" : sentenceCase(listed(isNew));
  return `${what} ${isNew.length > 1 ? "are" : "is"} unusual for this account, compared with its ${ratio?.history ?? 0} earlier log-ins.`;
}

// Returns the value, for kinds whose value is readable in a sentence.
function ratioValue(kind: string, context: RuleContext): string {
  const value = ["country", "asn", "os", "browser"].includes(kind) ? valueOf(context, `event.${kind}`) : "";
  return value === "" || value === 0 ? "" : ` (${kind === "asn" ? "AS" : ""}${value})`;
}

function listed(names: string[]): string {
  return names.length === 1 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function contributor(
  field: Field | undefined,
  { name, value, logOdds }: { name: string; value: FeatureValue; logOdds: number },
): Contributor {
  const size = Math.abs(logOdds);
  return {
    feature: name,
    plain_name: field?.plain ?? name,
    feature_value: value === never && field && zeroOf(field) === never ? "never" : value,
    shap_value: rounded(logOdds),
    direction: logOdds >= 0 ? "toward_fraud" : "toward_safe",
    impact_level: size >= 2 ? "HIGH" : size >= 0.75 ? "MEDIUM" : "LOW",
    description: field?.description ?? "How usual it is for this account, compared with all accounts.",
  };
}

function rounded(logOdds: number): number {
  return Math.round(logOdds * 1000) / 1000;
}

function valueOf(context: RuleContext, name: string): FeatureValue {
  const place = findPlace(name);
  const value = place && context[place.group][place.key];
  return typeof value === "object" || value === undefined ? "" : value;
}
