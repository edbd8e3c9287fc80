import { sessionIdleMs, subjectOf, type RecordedActivity } from "../domain/activity.ts";
import { firstCharacters } from "../domain/text.ts";
import { fraudTypeOf, type Finding, type Label } from "../domain/finding.ts";
import { fields } from "./catalogue.ts";
import { accusersOf, rememberedDays } from "./damping.ts";
import { contributor, rounded, valueOf, type Contributor, type ModelBehaviour } from "./contributor.ts";
import { ratioOf, type Lead, type Observed } from "./leads.ts";
import { listSentence } from "./list-rules.ts";
import { modelBehaviour, modelLabel, modelReason } from "./model-finding.ts";
import { reportWeight, scoreReport } from "./report.ts";
import { isListRule, modelRecordId, type ActiveRule, type Damped, type Part, type Score, type Verdict } from "./score.ts";
import type { RuleContext } from "./vector.ts";

// A finding and the subject of its case. `account` is null if the case has no account.
export type Found = Pick<Lead, "subject" | "account" | "member" | "partOf"> & {
  finding: Finding;
  activity: RecordedActivity;
  // The traits by which a look-alike is recognized.
  record?: { rules: string[]; traits: string[]; size: number };
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

// Returns a finding for each lead that is strong enough for a case.
export function findingsOf(leads: (Lead & { traits?: string[] })[], observed: Observed, nowMs: number): Found[] {
  const { activity, crowd } = observed;
  const report = scoreReport(activity, nowMs);
  const account = crowd === null ? (activity.website_account_id ?? null) : null;
  if (report) return [{ finding: withLists(report, observed), subject: subjectOf(activity), account, activity }];
  return leads
    .filter(({ verdict }) => verdict.score >= 3)
    .map((lead): Found => {
      const { verdict, subject, account: about, member, partOf, traits, size } = lead;
      const finding = withLists(makeFinding(verdict, observed, nowMs), observed);
      return {
        finding: about === null ? sourced(finding, subject, observed) : finding,
        subject,
        account: about,
        activity,
        ...(member && { member }),
        ...(partOf !== undefined && { partOf }),
        ...(traits && { record: { rules: accusersOf(verdict).map(({ rule_id }) => rule_id), traits, size } }),
      };
    });
}

// A block list is a reason of its own. Other lists are mentioned, also an allow list that does not apply to this case.
function withLists(finding: Finding, { context: { lists } }: Observed): Finding {
  const told = (lists?.hits ?? []).filter(({ kind }) => kind === "watch" || kind === "allow").map(listSentence);
  return told.length === 0 ? finding : { ...finding, highlights: [...finding.highlights, ...told] };
}

const sourceWords: Record<string, string> = { device: "device", session: "session", ip: "address", network: "network" };

// A case without an account must say where the attack came from.
function sourced(finding: Finding, subject: string, { claimed, activity }: Observed): Finding {
  const [kind = "", ...name] = subject.split(":");
  const words = sourceWords[kind];
  const from = words === undefined ? [] : [`It came from the ${words} ${shownName(kind, name.join(":"), activity)}.`];
  const highlights = [...finding.highlights, ...from];
  return { ...finding, highlights, ...(claimed !== undefined && { claimed }) };
}

// Ids are quoted, so that an id never reads as part of the sentence. If a page chose the id, other characters than those of usual
// ids are left out.
function shownName(kind: string, name: string, { origin }: RecordedActivity): string {
  if (kind !== "device" && kind !== "session") return firstCharacters(name, sourceCharacters);
  const shown = origin === "browser" ? name.replace(/[^\w.:-]/g, "") : name.replaceAll('"', "'");
  return `"${firstCharacters(shown, sourceCharacters)}"`;
}

function makeFinding(verdict: Verdict, { activity, at, context, source }: Observed, nowMs: number): Finding {
  const { score } = verdict;
  const rules = verdict.fired.toSorted((a, b) => b.rule.weight - a.rule.weight);
  const label = heaviestLabel(verdict);
  const reasons = reasonsOf(verdict, rules, context);
  const [first] = reasons;
  const labels = new Set<Label>([label, ...rules.map(({ rule }) => rule.label)]);
  return {
    score,
    label,
    // Anybody can send page events, so they never lead to more than monitoring.
    action: source === "page" ? "MONITOR" : actionOf(score, label, hasFraudHistory(rules, context)),
    // The number of reasons is left out, because it changes when more evidence joins the case.
    summary: `${first?.sentence ?? ""}${reasons.length > 1 ? " And more reasons." : ""}`,
    highlights: reasons.map(({ sentence }) => sentence),
    source,
    session_id: activity.session_id,
    session_status: activity.session_id !== undefined && nowMs - at < sessionIdleMs ? "ACTIVE" : "FINISHED",
    activity_type: activity.type,
    ...((activity.type === "login_failed" || activity.status === "declined") && { isAttempt: true as const }),
    explanation: {
      fraud_reason: first?.name ?? "",
      fraud_reason_description: first?.sentence ?? "",
      fraud_types: [...labels].map((each) => fraudTypeOf[each]),
      model_behaviour: [
        ...rules.map((active) => ruleModel(active, verdict, context)),
        ...ratioModel(verdict),
        ...modelBehaviour(verdict.model, context).map((behaviour) => withRecord(behaviour, verdict)),
      ],
    },
  };
}

// Returns the reasons for a verdict, whether or not it is strong enough for a case.
export function reasonsFor(verdict: Verdict, { activity, context }: Observed, nowMs: number): Reason[] {
  const report = scoreReport(activity, nowMs);
  if (report) {
    const { fraud_reason: name, fraud_reason_description: sentence } = report.explanation;
    return [{ name, sentence, weight: reportWeight }];
  }
  const rules = verdict.fired.toSorted((a, b) => b.rule.weight - a.rule.weight);
  return reasonsOf(verdict, rules, context);
}

type Reason = { name: string; sentence: string; weight: number };

// What is left of the rule's weight after damping by earlier false positives.
function weightIn({ damped }: Verdict, { rule_id, weight }: ActiveRule["rule"]): number {
  return weight + (damped.find((each) => each.rule_id === rule_id)?.logOdds ?? 0);
}

// Returns the reasons, heaviest first. A usual log-in is evidence for the owner, so it is not a reason.
function reasonsOf(verdict: Verdict, rules: ActiveRule[], context: RuleContext): Reason[] {
  const reasons = rules
    .map(({ rule, sentence }) => ({ name: rule.name, sentence: sentence.render(context), weight: weightIn(verdict, rule) }))
    .filter(({ weight }) => weight > 0);
  const ratio = ratioOf(verdict);
  if (ratio > 0) reasons.push({ name: "Unusual log-in", sentence: ratioWords(verdict, context), weight: ratio });
  const taken = modelRecords(verdict).reduce((sum, { logOdds }) => sum + logOdds, 0);
  const rated = modelReason(verdict.model, context).map((reason) => ({ ...reason, weight: reason.weight + taken }));
  reasons.push(...rated.filter(({ weight }) => weight > 0));
  return reasons.toSorted((a, b) => b.weight - a.weight);
}

// The likelihood ratio is evidence of an account takeover and of nothing else.
function heaviestLabel(verdict: Verdict): Label {
  const weights = new Map<Label, number>();
  for (const { rule } of verdict.fired) weights.set(rule.label, (weights.get(rule.label) ?? 0) + weightIn(verdict, rule));
  const ratio = ratioOf(verdict);
  if (ratio > 0) weights.set("Account Takeover", (weights.get("Account Takeover") ?? 0) + ratio);
  const [heaviest] = [...weights].toSorted(([, a], [, b]) => b - a);
  return heaviest?.[0] ?? modelLabel(verdict.model);
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

function ruleModel(active: ActiveRule, { damped }: Verdict, context: RuleContext): ModelBehaviour {
  const { rule, compiled } = active;
  // The event's type says when the rule applies, not why it fired.
  const told = compiled.reads.filter((name) => name !== "event.attributes" && name !== "event.type");
  const reads = (told.length === 0 ? ["event.type"] : told).slice(0, contributorsMax);
  const share = rounded(rule.weight / reads.length);
  // The first contributor gets the rounding difference, so that the shares sum to the weight.
  const first = rule.weight - share * (reads.length - 1);
  return {
    type: isListRule(active) ? "list" : "rule",
    model_name: rule.rule_id,
    top_contributors: [
      ...reads.map((name, index) =>
        contributor(fieldOf.get(name), { name, value: valueOf(context, name), logOdds: index === 0 ? first : share }),
      ),
      ...damped.filter((each) => each.rule_id === rule.rule_id).map(recordOf),
    ],
  };
}

function modelRecords({ model, damped }: Verdict): Damped[] {
  return model ? damped.filter(({ rule_id }) => rule_id === modelRecordId(model)) : [];
}

function withRecord(behaviour: ModelBehaviour, verdict: Verdict): ModelBehaviour {
  return { ...behaviour, top_contributors: [...behaviour.top_contributors, ...modelRecords(verdict).map(recordOf)] };
}

export function timesIn(times: number): string {
  return times === 1 ? "once" : `${times} times`;
}

function recordOf({ logOdds, times }: Damped): Contributor {
  return {
    ...contributor(undefined, { name: "closed_as_false", value: times, logOdds }),
    plain_name: `Closed as a false positive ${timesIn(times)}`,
    description: `Look-alikes with the same reason whose cases were closed as false positives in the last ${rememberedDays} days.`,
  };
}

function ratioModel({ ratio, ratioParts }: Verdict): ModelBehaviour[] {
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

// The difference that the limit on a single log-in makes. It is not a habit, so it ranks last.
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
  usual: "Log-in contribution capped",
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
