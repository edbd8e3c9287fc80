import { Type } from "typebox";
import { countForOthers } from "../db/approvals.ts";
import {
  countOpen,
  countViews,
  findDigests,
  findLinkedCases,
  listTallies,
  type DigestRow,
  type LinkedCases,
  type OpenCount,
  type TallyRow,
} from "../db/overview.ts";
import { findLastReceived } from "../db/timeline.ts";
import { CaseCounts, CaseDigest, Overview, ageHours, digestsMax } from "../domain/case-digest.ts";
import type { Case } from "../domain/case.ts";
import { Failure } from "../domain/failure.ts";
import { dayMs, parseBound } from "../domain/metric.ts";
import { medianSeconds } from "../domain/tally.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { recipientsOf } from "./cases.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const rangeDaysDefault = 30;
const rangeDaysMax = 366;
const hourMs = 3_600_000;

export const CaseIds = Type.Optional(
  Type.String({
    pattern: `^[^,]{1,64}(,[^,]{1,64}){0,${digestsMax - 1}}$`,
    description: `Up to ${digestsMax} case ids, separated by commas. Ids that do not exist are left out.`,
  }),
);

// In the order given, each once.
export function readCaseIds(text: string | undefined): string[] {
  return [...new Set(text?.split(",") ?? [])].filter(isCanonicalUuid);
}

async function digests(services: Services, { caller, query }: Call): Promise<Reply> {
  const ids = readCaseIds((query as { case_ids?: string }).case_ids);
  const [rows, linked] = await Promise.all([
    findDigests(services.database, caller.tenant_id, ids),
    findLinkedCases(services.database, caller.tenant_id, ids),
  ]);
  const byId = new Map(rows.map((row) => [row.case_id, row]));
  const found = ids.flatMap((id) => byId.get(id) ?? []);
  return dataReply({ case_digests: found.map((row) => digestOf(row, linked.get(row.case_id))) });
}

function digestOf(row: DigestRow, linked: LinkedCases | undefined): CaseDigest {
  // Part of a document that this service wrote.
  const { summary, fraud_labels, subject, members, random_check } = JSON.parse(row.details) as Case["details"];
  return {
    case_id: row.case_id,
    summary,
    fraud_labels,
    has_new_evidence: row.has_new_evidence,
    is_blocked: row.is_blocked ?? false,
    is_quarantined: row.is_quarantined ?? false,
    is_fraudulent: row.is_fraudulent ?? false,
    ...(subject && { subject }),
    ...(members && { members: members.count }),
    ...(random_check && { random_check }),
    ...closingIn(row),
    ...claimOf(row),
    ...handoverOf(row),
    ...(row.notes > 0 && { notes: row.notes }),
    linked_cases: linked?.linked_cases ?? 0,
    linked_case_ids: linked?.linked_case_ids ?? [],
  };
}

function closingIn({ closing }: DigestRow): Pick<CaseDigest, "closed"> {
  if (closing === null) return {};
  // Part of a document that this service wrote.
  const { changed_at: at, changed_by: by, disposition, own_disposition: own } = JSON.parse(closing) as Case["current_state"];
  return { closed: { at, by, ...(disposition && { disposition }), ...(own !== undefined && { own_disposition: own }) } };
}

function claimOf({ claimed_by, claimed_at, expires_at }: DigestRow): Pick<CaseDigest, "claim"> {
  if (claimed_by === null || claimed_at === null || expires_at === null) return {};
  return { claim: { claimed_by, claimed_at, expires_at } };
}

function handoverOf({ handed_to, handed_by, handed_at }: DigestRow): Pick<CaseDigest, "handover"> {
  if (handed_to === null || handed_by === null || handed_at === null) return {};
  return { handover: { handed_to, handed_by, handed_at } };
}

async function counts(services: Services, { caller }: Call): Promise<Reply> {
  const [views, waiting_for_approval, last_activity_at] = await Promise.all([
    countViews(services.database, caller.tenant_id, { me: caller.actor, recipients: recipientsOf(caller) }),
    countForOthers(services.database, caller.tenant_id, caller.person?.user_id ?? null),
    findLastReceived(services.database, caller.tenant_id),
  ]);
  return dataReply({ ...views, waiting_for_approval, last_activity_at });
}

async function overview(services: Services, { caller, query }: Call): Promise<Reply> {
  const nowMs = Date.parse(services.now());
  const { from, to } = readRange(query, nowMs);
  const range = { from: dayOf(from), to: dayOf(to) };
  const [tallies, open, last_activity_at] = await Promise.all([
    listTallies(services.database, caller.tenant_id, range),
    countOpen(services.database, caller.tenant_id, nowMs),
    findLastReceived(services.database, caller.tenant_id),
  ]);
  const shown: Overview = {
    start_date: range.from,
    end_date: range.to,
    ...figuresOf(tallies, { from, to }),
    open_cases: sum(open),
    backlog: backlogOf(open, nowMs),
    scores: [1, 2, 3, 4, 5].map((score) => ({ score, cases: sum(open.filter((each) => each.score === score)) })),
    last_activity_at,
  };
  return dataReply(shown);
}

// Whole days. By default, the last one is today.
export function readRange(
  { start_date: start, end_date: end }: { start_date?: string; end_date?: string },
  nowMs: number,
  { daysDefault = rangeDaysDefault, daysMax = rangeDaysMax } = {},
) {
  const to = end === undefined ? (Math.floor(nowMs / dayMs) + 1) * dayMs : readDay("end_date", end);
  const from = start === undefined ? to - daysDefault * dayMs : readDay("start_date", start);
  if (from >= to) throw new Failure("bad-request", "The parameter start_date must be before end_date.");
  if (to - from > daysMax * dayMs) throw new Failure("bad-request", `The range is too long. The maximum is ${daysMax} days.`);
  return { from, to };
}

function readDay(name: string, text: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? parseBound(text, false) : null;
  if (at === null)
    throw new Failure("bad-request", `The parameter ${name} must be a date in the form YYYY-MM-DD, in the years 2000 to 2100.`);
  return at;
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function sum(counted: { cases: number }[]): number {
  return counted.reduce((total, { cases }) => total + cases, 0);
}

function rowsFor(rows: TallyRow[], what: string): TallyRow[] {
  return rows.filter((row) => row.what === what);
}

function figuresOf(tallies: TallyRow[], { from, to }: { from: number; to: number }) {
  const byDay = Map.groupBy(tallies, ({ day }) => day);
  const days = Array.from({ length: (to - from) / dayMs }, (_, index) => {
    const day = dayOf(from + index * dayMs);
    const rows = byDay.get(day) ?? [];
    return {
      day,
      opened: sum(rowsFor(rows, "opened")),
      closed: sum(rowsFor(rows, "closed")),
      reopened: sum(rowsFor(rows, "reopened")),
    };
  });
  const closed = sum(rowsFor(tallies, "closed"));
  const confirmed = sum(rowsFor(tallies, "CONFIRMED_FRAUD"));
  const false_positives = sum(rowsFor(tallies, "FALSE_POSITIVE"));
  const inconclusive = sum(rowsFor(tallies, "INCONCLUSIVE"));
  return {
    days,
    opened: sum(rowsFor(tallies, "opened")),
    closed,
    reopened: sum(rowsFor(tallies, "reopened")),
    outcomes: { confirmed, false_positives, inconclusive, none: closed - confirmed - false_positives - inconclusive },
    median_seconds_to_close: medianSeconds(rowsFor(tallies, "closed")),
  };
}

function backlogOf(open: OpenCount[], nowMs: number): Overview["backlog"] {
  const younger = ageHours.map((_, index) => open.reduce((total, each) => total + (each.younger[index] ?? 0), 0));
  // Both bounds of the case list are exclusive.
  const boundOf = (index: number, ms: number) => {
    const hours = ageHours[index];
    return hours === undefined ? null : new Date(nowMs - hours * hourMs + ms).toISOString();
  };
  return [...younger, sum(open)].map((cases, index) => ({
    created_after: boundOf(index, 0),
    created_before: boundOf(index - 1, 1),
    cases: cases - (younger[index - 1] ?? 0),
  }));
}

export const Day = (description: string) => Type.Optional(Type.String({ description, examples: ["2026-11-15"] }));

export const overviewOperations: Operation[] = [
  operation({
    id: "listCaseDigests",
    method: "GET",
    path: "/cases/digests",
    scope: "read:cases",
    tag: "Cases",
    summary: "Read the details that a queue shows with its cases",
    description: "For the cases of a page, in the order given: summary, flags of the account, new evidence, linked cases.",
    query: Type.Object({ case_ids: CaseIds }),
    success: {
      status: 200,
      description: "A digest of each case that exists",
      schema: Type.Object({ case_digests: Type.Array(CaseDigest) }, { additionalProperties: false }),
    },
    problems: ["bad-request"],
    handle: digests,
  }),
  operation({
    id: "getCaseCounts",
    method: "GET",
    path: "/cases/counts",
    scope: "read:cases",
    tag: "Cases",
    summary: "Count open cases",
    description: "The number of cases in each of the queue's views, and when the last activity was received.",
    success: { status: 200, description: "The counts", schema: CaseCounts },
    problems: ["bad-request"],
    handle: counts,
  }),
  operation({
    id: "getOverview",
    method: "GET",
    path: "/overview",
    scope: "read:metrics",
    tag: "Cases",
    summary: "Read figures on the work on cases",
    description:
      "Cases opened and closed by day in UTC, outcomes, and the time to close, over a range of up to 366 days. The backlog is the current one. A close that was undone by reopening does not count. The figures of each rule are with the rules.",
    query: Type.Object({
      start_date: Day("The first day. Default: 30 days before the end."),
      end_date: Day("The day after the last. Default: tomorrow."),
    }),
    success: { status: 200, description: "The figures", schema: Overview },
    problems: ["bad-request"],
    handle: overview,
  }),
];
