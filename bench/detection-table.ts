import { historyBounds, type KindSummary, type Summary, type TakeoverSummary } from "./detection-summary.ts";

type Row = (string | number)[];

export type Setting = { seeds: string[]; users: number; days: number; historyDays: number };

// As Markdown, which is readable as it is and can be put into a document.
export function tableText(summary: Summary, setting: Setting): string {
  return [
    titleText(summary, setting),
    catchesText(summary.kinds),
    takeoversText(summary.takeovers),
    falseText(summary),
    accountsText(summary.kinds),
    labelsText(summary.kinds),
    scaleText,
  ].join("\n\n");
}

function titleText(summary: Summary, { seeds, users, days, historyDays }: Setting): string {
  const { genuineSessions, guestSessions, aftermathSessions } = summary;
  return (
    `Detection of simulated attacks: ${seeds.length} simulated shops (${seeds.join(", ")}) of ${users} members each, ` +
    `${days} days after ${historyDays} days of history.\n` +
    `${whole(genuineSessions)} genuine sessions of members; beside them ${whole(guestSessions)} of guests, and ` +
    `${whole(aftermathSessions)} on accounts that a stranger had been in, which count neither way.`
  );
}

function catchesText(kinds: KindSummary[]): string {
  const rows = kinds.map((each): Row => [
    each.kind,
    each.attacks,
    percent(each.case),
    percent(each.at1),
    percent(each.at5),
    percent(each.ratioAt1),
    percent(each.ratioAt5),
    percent(each.velocity),
    each.eventsToFinding ?? "",
    each.minutesToFinding === null ? "" : round(each.minutesToFinding),
  ]);
  const head = [
    "simulated attack",
    "attacks",
    "case",
    "at 1 %",
    "at 5 %",
    "ratio at 1 %",
    "ratio at 5 %",
    "velocity",
    "events",
    "minutes",
  ];
  return (
    "Share caught: by a case; by asking 1 % and 5 % of genuine sessions again; by the likelihood ratio alone; by five fixed " +
    `velocity rules. Then the median of events and simulated minutes from the attack's first event to its case.\n\n${table(head, rows)}`
  );
}

function cell({ attacks, case: caught, at1 }: TakeoverSummary["acted"]): string {
  return attacks === 0 ? "" : `${percent(caught)}, ${percent(at1)} of ${attacks}`;
}

function takeoversText(takeovers: TakeoverSummary[]): string {
  const rows = takeovers.map(({ kind, byHistory, looked, acted }): Row => [
    kind,
    ...byHistory.map(cell),
    cell(looked),
    cell(acted),
  ]);
  const histories = historyBounds.map(([from, to]) => (Number.isFinite(to) ? `${from} to ${to} log-ins` : `${from} and more`));
  return (
    "Takeovers by the log-ins that the victim had before, and by whether the thief only looked or changed something or moved " +
    `money: share with a case, share at 1 %.\n\n${table(["simulated takeover", ...histories, "looked", "acted"], rows)}`
  );
}

function falseText(summary: Summary): string {
  const per = (count: number): string => perTenThousand(count, summary.genuineSessions);
  const rows = Object.entries(summary.falseByRule).map(([rule, count]): Row => [rule, count, per(count)]);
  const total: Row[] = [
    ["all: sessions in a case", summary.falseSessions, per(summary.falseSessions)],
    ["all: cases opened", summary.falseCases, per(summary.falseCases)],
    ["for comparison: the five velocity rules", summary.falseByVelocity, per(summary.falseByVelocity)],
  ];
  return `Genuine sessions that made a case, by the reason that led.\n\n${table(["reason", "simulated", "per 10,000"], [...rows, ...total])}`;
}

function accountsText(kinds: KindSummary[]): string {
  const rows = kinds
    .filter(({ kind, entered }) => entered > 0 && !kind.startsWith("takeover"))
    .map(({ kind, entered, enteredWithCase }): Row => [kind, entered, enteredWithCase, percent(enteredWithCase / entered)]);
  return `Accounts that attackers got into or made, and those with a case of their own or, for sign-ups, of the device or address that they came from.\n\n${table(["simulated attack", "accounts", "with a case", "share"], rows)}`;
}

function labelsText(kinds: KindSummary[]): string {
  const labels = ["Account Takeover", "Bot", "Synthetic", "Organic"];
  const rows = kinds.map(({ kind, labels: given }): Row => [kind, ...labels.map((label) => given[label] ?? 0)]);
  return `Primary label of the cases that attacks opened; an attack that joined a case is not among them.\n\n${table(["simulated attack", ...labels], rows)}`;
}

const scaleText =
  "For scale, on real log-ins (Wiefling et al. 2022, Freeman's model): to catch 98 % of targeted attackers, about 17 % of users " +
  "with 12 log-ins must be asked again, and 5 % of those with 40. All numbers above are simulated.";

export function table(head: string[], rows: Row[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  const [top = [], ...rest] = cells;
  return [line(top), rule, ...rest.map(line)].join("\n");
}

export function percent(share: number | null): string {
  return share === null ? "" : `${Math.round(100 * share)} %`;
}

export function perTenThousand(count: number, of: number): string {
  return of === 0 ? "" : round((10_000 * count) / of);
}

function round(value: number): string {
  return value >= 100 ? whole(Math.round(value)) : value.toFixed(1);
}

export function whole(value: number): string {
  return value.toLocaleString("en");
}
