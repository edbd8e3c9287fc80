import { dispositions, hasNewEvidence, labels, roles, unknownAccount, type Case, type Role } from "@casehound/client";
import type { CaseQuery } from "../../data/queries.ts";
import { roleWords } from "../../handing/recipients.ts";
import { accountName } from "../../parts/account-name.ts";
import { dispositionWords } from "../../parts/Badges.tsx";
import { visible } from "../../parts/visible.ts";

const statuses = ["open", "closed", "all"] as const;
const claims = ["me", "none"] as const;
const recipients = ["me", ...roles] as const;
const periods = ["1h", "24h", "7d"] as const;
// As long as the API allows.
const hoursMax = 8784;

// The queue's filters, as the address holds them. An absent parameter means the default: open cases without any other filter.
export type Narrowing = {
  status?: (typeof statuses)[number];
  label?: (typeof labels)[number];
  score?: number;
  score_max?: number;
  account?: string;
  blocked?: boolean;
  evidence?: boolean;
  outcome?: (typeof dispositions)[number];
  own?: string;
  closer?: string;
  // `me`, `none`, or a colleague or client.
  claimed?: string;
  handed?: string;
  late?: boolean;
  // `7d`, or a number of hours such as `24h`.
  changed?: string;
};

// A change to the filters. An undefined value removes the filter.
export type NarrowingChange = { [name in keyof Narrowing]?: Narrowing[name] | undefined };
export type Chip = { name: string; drop: NarrowingChange };

type Filter<V> = {
  read: (raw: unknown) => V | undefined;
  toQuery: (value: V) => CaseQuery;
  // The reverse of `toQuery`, for saved views. Returns undefined if the query does not filter by it.
  fromQuery: (query: CaseQuery) => V | undefined;
  // Whether a case from the live stream belongs in the list.
  isMet: (found: Case, value: V) => boolean;
  // Null if the filter is not set, or if another filter's chip already shows it.
  chip: (narrowing: Narrowing) => Chip | null;
  // The choices in the filter menu.
  choices?: { title: string; items: { name: string; put: NarrowingChange }[] };
};

const statusNames = { open: "Open", closed: "Closed", all: "Open and closed" };
const periodWords = {
  "1h": "Changed in the last hour",
  "24h": "Changed in the last 24 h",
  "7d": "Changed in the last 7 days",
};
const claimWords = { me: "Claimed by me", none: "Unclaimed" };
const recipientWords = { me: "Handed to me", ...handedTo(roleWords) };

// Every filter of the queue. Addresses, requests, live rows, chips and the menu are derived from this list.
const filters: { [name in keyof Narrowing]-?: Filter<NonNullable<Narrowing[name]>> } = {
  status: {
    read: (raw) => {
      const status = oneOf(statuses, raw);
      return status === "open" ? undefined : status;
    },
    toQuery: (status) => (status === "all" ? {} : { status: status === "open" ? "OPEN" : "CLOSED" }),
    fromQuery: ({ status }) => (status === undefined ? "all" : status === "CLOSED" ? "closed" : undefined),
    isMet: ({ status }, wanted) => wanted === "all" || status === wanted.toUpperCase(),
    // Removing this chip shows closed cases as well.
    chip: ({ status = "open" }) => (status === "all" ? null : { name: statusNames[status], drop: { status: "all" } }),
    choices: {
      title: "Status",
      items: statuses.map((status) => ({ name: statusNames[status], put: { status: status === "open" ? undefined : status } })),
    },
  },
  label: {
    read: (raw) => oneOf(labels, raw),
    toQuery: (label) => ({ label }),
    fromQuery: ({ label }) => label,
    isMet: ({ details }, label) => details.primary_fraud_label === label,
    chip: ({ label }) => (label === undefined ? null : { name: label, drop: { label: undefined } }),
    choices: { title: "Label", items: labels.map((label) => ({ name: label, put: { label } })) },
  },
  score: {
    read: (raw) => wholeBetween(raw, 2, 5),
    toQuery: (score) => ({ min_score: score }),
    fromQuery: ({ min_score }) => wholeBetween(min_score, 2, 5),
    isMet: ({ details }, score) => details.overall_risk_score >= score,
    chip: (narrowing) => {
      const name = riskWords(narrowing);
      return name === null ? null : { name, drop: { score: undefined, score_max: undefined } };
    },
    choices: {
      title: "Risk",
      items: [5, 4, 3].map((score) => ({
        name: score === 5 ? "5" : `${score} or higher`,
        put: { score, score_max: undefined },
      })),
    },
  },
  score_max: {
    read: (raw) => wholeBetween(raw, 1, 4),
    toQuery: (score) => ({ max_score: score }),
    fromQuery: ({ max_score }) => wholeBetween(max_score, 1, 4),
    isMet: ({ details }, score) => details.overall_risk_score <= score,
    chip: () => null,
  },
  account: {
    read: (raw) => ((typeof raw === "string" || typeof raw === "number") && raw !== "" ? String(raw) : undefined),
    toQuery: (account) => ({ website_account_id: account }),
    fromQuery: ({ website_account_id: id }) => id,
    isMet: ({ website_account_id: id }, account) => id === account,
    chip: ({ account }) => {
      if (account === undefined) return null;
      return {
        name: account === unknownAccount ? accountName(account) : `Account ${visible(account)}`,
        drop: { account: undefined },
      };
    },
  },
  blocked: {
    read: readFlag,
    toQuery: (blocked) => ({ user_is_blocked: blocked }),
    fromQuery: ({ user_is_blocked: isBlocked }) => isBlocked,
    isMet: ({ end_user_is_blocked: isBlocked }, blocked) => isBlocked === blocked,
    chip: ({ blocked }) =>
      blocked === undefined ? null : { name: blocked ? "Account blocked" : "Account not blocked", drop: { blocked: undefined } },
    choices: {
      title: "Account",
      items: [
        { name: "Blocked", put: { blocked: true } },
        { name: "Not blocked", put: { blocked: false } },
      ],
    },
  },
  evidence: {
    read: readFlag,
    toQuery: (evidence) => ({ new_evidence: evidence }),
    fromQuery: ({ new_evidence: evidence }) => evidence,
    isMet: (found, evidence) => hasNewEvidence(found) === evidence,
    chip: ({ evidence }) =>
      evidence === undefined ? null : { name: evidence ? "New evidence" : "No new evidence", drop: { evidence: undefined } },
    choices: {
      title: "Evidence",
      items: [{ name: "New evidence since last review", put: { evidence: true } }],
    },
  },
  outcome: {
    read: (raw) => oneOf(dispositions, raw),
    toQuery: (disposition) => ({ disposition }),
    fromQuery: ({ disposition }) => disposition,
    isMet: ({ status, current_state }, outcome) => status === "CLOSED" && current_state.disposition === outcome,
    chip: ({ outcome }) => (outcome === undefined ? null : { name: dispositionWords[outcome], drop: { outcome: undefined } }),
    choices: {
      title: "Closed as",
      items: dispositions.map((outcome) => ({ name: dispositionWords[outcome], put: { outcome, status: "closed" } })),
    },
  },
  own: {
    read: (raw) => (typeof raw === "string" && raw !== "" ? raw : undefined),
    toQuery: (own) => ({ own_disposition: own }),
    fromQuery: ({ own_disposition: own }) => own,
    isMet: ({ status, current_state }, own) => status === "CLOSED" && current_state.own_disposition === own,
    chip: ({ own }) => (own === undefined ? null : { name: visible(own), drop: { own: undefined } }),
  },
  closer: {
    read: readText,
    toQuery: (closer) => ({ closed_by: closer }),
    fromQuery: ({ closed_by: closer }) => closer,
    isMet: ({ status, current_state }, closer) => status === "CLOSED" && current_state.changed_by === closer,
    chip: ({ closer }) => (closer === undefined ? null : { name: `Closed by ${visible(closer)}`, drop: { closer: undefined } }),
  },
  claimed: {
    read: readText,
    toQuery: (claimed) => ({ claimed_by: claimed }),
    fromQuery: ({ claimed_by: claimed }) => claimed,
    // A case from the stream is new here, so it is nobody's yet, as far as the list knows.
    isMet: (_found, claimed) => claimed === "none",
    chip: ({ claimed }) => {
      if (claimed === undefined) return null;
      const known = oneOf(claims, claimed);
      return { name: known ? claimWords[known] : `Claimed by ${visible(claimed)}`, drop: { claimed: undefined } };
    },
    choices: { title: "Claim", items: claims.map((claimed) => ({ name: claimWords[claimed], put: { claimed } })) },
  },
  handed: {
    read: readText,
    toQuery: (handed) => ({ handed_to: handed }),
    fromQuery: ({ handed_to: handed }) => handed,
    // The case does not say to whom it was handed over. The list learns that from the event.
    isMet: () => false,
    chip: ({ handed }) => {
      if (handed === undefined) return null;
      const known = oneOf(recipients, handed);
      return { name: known ? recipientWords[known] : `Handed to ${visible(handed)}`, drop: { handed: undefined } };
    },
    choices: { title: "Handed over", items: recipients.map((handed) => ({ name: recipientWords[handed], put: { handed } })) },
  },
  late: {
    read: readFlag,
    toQuery: (late) => ({ overdue: late }),
    fromQuery: ({ overdue }) => overdue,
    isMet: ({ status, due_at }, late) => (status === "OPEN" && due_at !== undefined && Date.parse(due_at) <= Date.now()) === late,
    chip: ({ late }) => (late === undefined ? null : { name: late ? "Overdue" : "Not overdue", drop: { late: undefined } }),
    choices: { title: "Due", items: [{ name: "Overdue", put: { late: true } }] },
  },
  changed: {
    read: (raw) => (typeof raw === "string" && hoursOf(raw) !== undefined ? raw : undefined),
    toQuery: (changed) => ({ updated_within_hours: hoursOf(changed) ?? hoursMax }),
    fromQuery: ({ updated_within_hours: hours }) => (hours === undefined ? undefined : periodOf(hours)),
    // A case from the stream has changed just now.
    isMet: () => true,
    chip: ({ changed }) => {
      if (changed === undefined) return null;
      const known = oneOf(periods, changed);
      return { name: known ? periodWords[known] : `Changed in the last ${hoursOf(changed)} h`, drop: { changed: undefined } };
    },
    choices: { title: "Time", items: periods.map((changed) => ({ name: periodWords[changed], put: { changed } })) },
  },
};

function handedTo(words: Record<Role, string>): Record<Role, string> {
  return { investigator: `Handed to ${words.investigator}`, lead: `Handed to ${words.lead}`, admin: `Handed to ${words.admin}` };
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((each) => each === value);
}

function wholeBetween(raw: unknown, least: number, most: number): number | undefined {
  const value = Number(raw);
  return Number.isInteger(value) && value >= least && value <= most ? value : undefined;
}

function readText(raw: unknown): string | undefined {
  return typeof raw === "string" && raw !== "" ? raw : undefined;
}

function hoursOf(period: string): number | undefined {
  return period === "7d" ? 168 : wholeBetween(/^(\d{1,4})h$/.exec(period)?.[1], 1, hoursMax);
}

function periodOf(hours: number): string {
  return hours === 168 ? "7d" : `${hours}h`;
}

function readFlag(raw: unknown): boolean | undefined {
  return typeof raw === "boolean" ? raw : undefined;
}

function riskWords({ score = 1, score_max = 5 }: Narrowing): string | null {
  if (score === 1 && score_max === 5) return null;
  if (score === score_max) return `Risk ${score}`;
  if (score_max === 5) return `Risk ${score} or higher`;
  return score === 1 ? `Risk ${score_max} or lower` : `Risk ${score} to ${score_max}`;
}

const entries = Object.entries(filters) as [keyof Narrowing, Filter<unknown>][];

export function readNarrowing(raw: Record<string, unknown>): Narrowing {
  return Object.fromEntries(
    entries.map(([name, { read }]) => [name, read(raw[name])]).filter(([, value]) => value !== undefined),
  );
}

// Includes the default status, because it is a filter too.
function valuesOf(narrowing: Narrowing): { filter: Filter<unknown>; value: unknown }[] {
  const whole: Narrowing = { status: "open", ...narrowing };
  return entries.map(([name, filter]) => ({ filter, value: whole[name] })).filter(({ value }) => value !== undefined);
}

export function toNarrowingQuery(narrowing: Narrowing): CaseQuery {
  return Object.assign({}, ...valuesOf(narrowing).map(({ filter, value }) => filter.toQuery(value))) as CaseQuery;
}

export function fromNarrowingQuery(query: CaseQuery): Narrowing {
  return Object.fromEntries(
    entries.map(([name, { fromQuery }]) => [name, fromQuery(query)]).filter(([, value]) => value !== undefined),
  );
}

export function isMet(narrowing: Narrowing, found: Case): boolean {
  return valuesOf(narrowing).every(({ filter, value }) => filter.isMet(found, value));
}

export function chipsOf(narrowing: Narrowing): Chip[] {
  return entries.flatMap(([, { chip }]) => chip(narrowing) ?? []);
}

export const filterChoices = entries.flatMap(([, { choices }]) => choices ?? []);

export function isChosen(narrowing: Narrowing, put: NarrowingChange): boolean {
  return (Object.keys(put) as (keyof Narrowing)[]).every((name) => narrowing[name] === put[name]);
}
