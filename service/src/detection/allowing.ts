import type { ListType } from "../domain/list.ts";
import { rounded } from "./contributor.ts";
import type { Lead, Observed } from "./leads.ts";
import { scoreOf } from "./score.ts";

// These identify an account. Anybody can fail to log in to a listed account, or sign up with any e-mail address, so such a list
// lowers only what counts against the account, never what counts against the source of an attack.
const ofAccount: ReadonlySet<ListType> = new Set(["account", "email", "email_domain"]);
// Below the threshold of score 2 by this much.
const margin = 1;

// Lowers a lead to score 1 if the activity hits an allow list. A report is always shown, and a block list is stronger.
export function allowedLead<T extends Lead>(lead: T, { activity, context: { lists } }: Observed): T {
  const hits = lists?.hits ?? [];
  if (activity.type === "fraud_report" || hits.some(({ kind }) => kind === "block")) return lead;
  const hit = hits.find(({ kind, type }) => kind === "allow" && (lead.account !== null || !ofAccount.has(type)));
  const { verdict } = lead;
  const most = verdict.thresholds.score_2 - margin;
  if (!hit || verdict.logOdds <= most) return lead;
  const allowed = { name: hit.name, logOdds: rounded(most - verdict.logOdds) };
  const logOdds = rounded(most);
  return { ...lead, verdict: { ...verdict, allowed, logOdds, score: scoreOf(logOdds, verdict.thresholds, verdict.source) } };
}
