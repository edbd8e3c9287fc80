import { compileRule } from "../service/src/detection/compile.ts";
import { defaultRules } from "../service/src/detection/default-rules.ts";
import { findingsOf } from "../service/src/detection/finding.ts";
import { leadsOf } from "../service/src/detection/leads.ts";
import type { EnrichedActivity } from "../service/src/detection/scene.ts";
import type { RuleSet } from "../service/src/detection/score.ts";
import { compileSentence } from "../service/src/detection/sentence.ts";
import type { RecordedActivity } from "../service/src/domain/activity.ts";
import { addressSubject, defaultThresholds } from "../service/src/domain/rule.ts";
import { Enrichment } from "../service/src/engine/enrichment.ts";
import { thresholdAt } from "./detection-measure.ts";
import { historyBounds } from "./detection-summary.ts";
import { percent, perTenThousand, table, whole } from "./detection-table.ts";
import type { LoginRow } from "./rba-file.ts";
import { LocalMemory } from "./rba-memory.ts";

type LoginKind = "genuine" | "account takeover" | "attack address, log-in" | "attack address, failure";
type Sample = { logOdds: number; ratio: number; history: number; hasFinding: boolean };

const ruleSet: RuleSet = {
  revision: 1,
  thresholds: defaultThresholds,
  rules: defaultRules.map((rule) => ({
    rule: { ...rule, rule_version: 1, updated_at: "", updated_by: "system" },
    compiled: compileRule(rule.expression),
    sentence: compileSentence(rule.sentence),
  })),
};

// Judges log-ins in the order of the file, each by what was known before it.
export class LoginBench {
  readonly #memory = new LocalMemory(ruleSet);
  // Countries and networks come from the file.
  readonly #enrichment = new Enrichment([]);
  readonly #samples: Record<LoginKind, Sample[]> = {
    genuine: [],
    "account takeover": [],
    "attack address, log-in": [],
    "attack address, failure": [],
  };
  rows = 0;

  add(row: LoginRow): void {
    this.rows++;
    const event = this.#eventOf(row);
    const { verdict, context } = this.#memory.score(event);
    const kind = kindOf(row);
    if (kind === null) return;
    const { activity, at, network } = event;
    const origin = { source: "server", address: addressSubject(activity.ip), network } as const;
    // Which campaign a failed log-in belongs to does not change whether there is a finding, so a placeholder is enough.
    const campaigns = new Map(verdict.fired.map(({ rule }) => [rule.rule_id, { subject: "campaign", size: 1 }]));
    const observed = { activity, ...origin, claimed: undefined, crowd: null, campaigns, at, context };
    const history = Number(context.login["history"]);
    this.#samples[kind].push({
      logOdds: verdict.logOdds,
      ratio: history >= 4 ? Number(context.login["ratio"]) : Number.NEGATIVE_INFINITY,
      history: Number(context.account["logins"]),
      hasFinding: findingsOf(leadsOf(verdict, observed), observed, at).length > 0,
    });
  }

  #eventOf({ index, at, user, ip, agent, country, asn, hasSucceeded }: LoginRow): EnrichedActivity {
    const time = new Date(at).toISOString();
    const activity: RecordedActivity = {
      activity_id: index,
      type: hasSucceeded ? "login_succeeded" : "login_failed",
      occurred_at: time,
      received_at: time,
      origin: "server",
      website_account_id: user,
      ...(ip !== "" && { ip }),
      ...(agent !== "" && { user_agent: agent }),
    };
    const enriched = this.#enrichment.enrich(activity);
    return { ...enriched, country, asn, network: asn === 0 ? enriched.network : `AS${asn}` };
  }

  text(name: string): string {
    const { genuine, ...attacks } = this.#samples;
    const bounds = [0.01, 0.05].map((share) => ({
      logOdds: thresholdAt(
        genuine.map((each) => each.logOdds),
        share,
      ),
      ratio: thresholdAt(
        genuine.map((each) => each.ratio),
        share,
      ),
    }));
    const cellsOf = (samples: Sample[]): string[] => [
      whole(samples.length),
      shareOf(samples, ({ hasFinding }) => hasFinding),
      ...bounds.map((bound) => shareOf(samples, ({ logOdds }) => logOdds > bound.logOdds)),
      ...bounds.map((bound) => shareOf(samples, ({ ratio }) => ratio > bound.ratio)),
    ];
    const rows = Object.entries(attacks).flatMap(([kind, samples]) => [
      [kind, ...cellsOf(samples)],
      ...historyBounds.map(([from, to]) => [
        `${kind}, with ${Number.isFinite(to) ? `${from} to ${to}` : `${from} and more`} log-ins before`,
        ...cellsOf(samples.filter(({ history }) => history >= from && history <= to)),
      ]),
    ]);
    const falseCount = genuine.filter(({ hasFinding }) => hasFinding).length;
    return (
      `Detection on log-ins that were synthesized from real ones: ${whole(this.rows)} rows of ${name}. ${whole(genuine.length)} of them are genuine log-ins.\n\n` +
      `${table(["log-ins", "number", "case", "at 1 %", "at 5 %", "ratio at 1 %", "ratio at 5 %"], rows)}\n\n` +
      `Genuine log-ins in a case: ${falseCount}, which is ${perTenThousand(falseCount, genuine.length)} per 10,000.`
    );
  }
}

// A failed log-in from an ordinary address may be the owner's or an attacker's.
function kindOf({ isTakeover, isAttackIp, hasSucceeded }: LoginRow): LoginKind | null {
  if (isTakeover) return "account takeover";
  if (isAttackIp) return hasSucceeded ? "attack address, log-in" : "attack address, failure";
  return hasSucceeded ? "genuine" : null;
}

function shareOf(samples: Sample[], isWanted: (sample: Sample) => boolean): string {
  return percent(samples.length === 0 ? null : samples.filter(isWanted).length / samples.length);
}
