import type { Case, CaseListItem } from "@casehound/client";
import { unknownAccount } from "../../parts/account-name.ts";
import type { CaseQuery } from "../../data/queries.ts";
import { isWithin, readRange, toRangeQuery, type QueueRange } from "./range.ts";

const labels = ["Account Takeover", "Bot", "Synthetic", "Organic"] as const;
const sorts = ["risk", "newest", "oldest", "changed"] as const;
const statuses = ["open", "closed", "all"] as const;
const periods = ["1h", "24h", "7d"] as const;

// The address holds everything that the queue shows, so it can be pasted into a chat. An absent parameter means the default: open
// cases, highest risk first.
export type QueueSearch = QueueRange & {
  status?: (typeof statuses)[number];
  label?: (typeof labels)[number];
  score?: number;
  score_max?: number;
  account?: string;
  blocked?: boolean;
  changed?: (typeof periods)[number];
  evidence?: boolean;
  sort?: (typeof sorts)[number];
  // The case in the peek pane.
  case?: string;
};

export type QueueFilter = Omit<QueueSearch, "case">;

export function readQueueSearch(raw: Record<string, unknown>): QueueSearch {
  const status = oneOf(statuses, raw["status"]);
  const label = oneOf(labels, raw["label"]);
  const changed = oneOf(periods, raw["changed"]);
  const sort = oneOf(sorts, raw["sort"]);
  const score = Number(raw["score"]);
  const scoreMax = Number(raw["score_max"]);
  const { account, blocked, evidence, case: caseId } = raw;
  return {
    ...(status && status !== "open" && { status }),
    ...(label && { label }),
    ...(Number.isInteger(score) && score >= 2 && score <= 5 && { score }),
    ...(Number.isInteger(scoreMax) && scoreMax >= 1 && scoreMax <= 4 && { score_max: scoreMax }),
    ...((typeof account === "string" || typeof account === "number") && account !== "" && { account: String(account) }),
    ...(typeof blocked === "boolean" && { blocked }),
    ...(changed && { changed }),
    ...readRange(raw),
    ...(typeof evidence === "boolean" && { evidence }),
    ...(sort && sort !== "risk" && { sort }),
    ...(typeof caseId === "string" && { case: caseId }),
  };
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((each) => each === value);
}

const periodMs = { "1h": 3_600_000, "24h": 24 * 3_600_000, "7d": 7 * 24 * 3_600_000 };
const sortNames = { risk: "-overall_risk_score", newest: "-created_at", oldest: "created_at", changed: "-updated_at" } as const;

export function toCaseQuery(filter: QueueFilter, nowMs: number): CaseQuery {
  const { status = "open", label, score, account, blocked, changed, evidence, sort = "risk" } = filter;
  const { updated_since = "", ...range } = toRangeQuery(filter);
  const recent = changed ? new Date(nowMs - periodMs[changed]).toISOString() : "";
  // Both lower bounds apply, so use the later one.
  const since = recent > updated_since ? recent : updated_since;
  return {
    ...(status !== "all" && { status: status === "open" ? ("OPEN" as const) : ("CLOSED" as const) }),
    ...(label && { label }),
    ...(score !== undefined && { min_score: score }),
    ...(filter.score_max !== undefined && { max_score: filter.score_max }),
    ...(account !== undefined && { website_account_id: account }),
    ...(blocked !== undefined && { user_is_blocked: blocked }),
    ...range,
    ...(since !== "" && { updated_since: since }),
    ...(evidence !== undefined && { new_evidence: evidence }),
    sort: sortNames[sort],
  };
}

// Whether a case from the live stream belongs in the list.
export function isWanted(filter: QueueFilter, found: Case): boolean {
  const { status = "open", label, score = 1, account, blocked, evidence } = filter;
  return (
    (status === "all" || found.status === status.toUpperCase()) &&
    (label === undefined || found.details.primary_fraud_label === label) &&
    found.details.overall_risk_score >= score &&
    found.details.overall_risk_score <= (filter.score_max ?? 5) &&
    isWithin(filter, found) &&
    (account === undefined || found.website_account_id === account) &&
    (blocked === undefined || found.end_user_is_blocked === blocked) &&
    (evidence === undefined || hasNewEvidence(found) === evidence)
  );
}

// Mirrors the service: detection made the last change, and that change did not open the case.
function hasNewEvidence({ status, current_state, state_history }: Case): boolean {
  return status === "OPEN" && current_state.changed_by === "system" && state_history.length > 0;
}

export function toRow(found: Case): CaseListItem {
  const { case_id, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at, details } = found;
  const { overall_risk_score, primary_fraud_label, recommended_action } = details;
  const rated = { overall_risk_score, primary_fraud_label, recommended_action };
  return { case_id, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at, ...rated };
}

export const evidenceMeaning = "New evidence since a person last changed the case, or since it was opened";

type View = {
  name: string;
  help?: string;
  filter: QueueFilter;
  counted: "open" | "new_evidence" | "blocked_accounts" | "no_account";
};

export const views: View[] = [
  { name: "Open, highest risk", filter: {}, counted: "open" },
  { name: "New evidence", help: evidenceMeaning, filter: { evidence: true, sort: "changed" }, counted: "new_evidence" },
  { name: "Blocked accounts with open cases", filter: { blocked: true }, counted: "blocked_accounts" },
  { name: "No account", filter: { account: unknownAccount }, counted: "no_account" },
];

export function isSameFilter(one: QueueFilter, other: QueueFilter): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof QueueFilter)[];
  return names.every((name) => one[name] === other[name]);
}

export const choices = { labels, sorts, statuses, periods };

export const sortWords = {
  risk: "Highest risk first",
  newest: "Newest first",
  oldest: "Oldest first",
  changed: "Last changed first",
};
export const periodWords = {
  "1h": "Changed in the last hour",
  "24h": "Changed in the last 24 h",
  "7d": "Changed in the last 7 days",
};
