import type { Voice } from "@casehound/simulator/voice";
import type { Forged } from "./detection-forger.ts";
import { historyBounds, type KindSummary, type Summary, type TakeoverSummary } from "./detection-summary.ts";

export type Row = (string | number)[];

export type Setting = { seeds: string[]; users: number; days: number; historyDays: number };

const voiceWords: Record<Voice["kind"], string> = {
  server: "Shops whose servers report what happens, and whose pages send events",
  signed: "Shops whose pages report everything, with signed identity",
  snippet: "Shops whose pages report everything, with nothing signed",
};

// As Markdown, which is readable as it is and can be pasted into a document.
export function tableText(kind: Voice["kind"], summary: Summary, setting: Setting): string {
  const kinds = summary.kinds.filter(({ attacks }) => attacks > 0);
  return [
    titleText(kind, summary, setting),
    catchesText(kinds),
    ...(kind === "server" ? [] : [heardText(kinds)]),
    takeoversText(summary.takeovers.filter((each) => kinds.some(({ kind: known }) => known === each.kind))),
    falseText(summary),
    accountsText(kinds),
    labelsText(kinds),
    ...(kind === "server" ? [scaleText] : []),
  ].join("\n\n");
}

function titleText(kind: Voice["kind"], summary: Summary, { seeds, users, days, historyDays }: Setting): string {
  const { genuineSessions, guestSessions, aftermathSessions } = summary;
  return (
    `${voiceWords[kind]} (${kind}).\n` +
    `Detection of simulated attacks. Simulated shops: ${seeds.length} (${seeds.join(", ")}), with ${users} members each. ` +
    `Measured: ${days} days after ${historyDays} days of history.\n` +
    `Genuine sessions of members: ${whole(genuineSessions)}. Not counted: ${whole(guestSessions)} sessions of guests, and ` +
    `${whole(aftermathSessions)} sessions on accounts that a stranger had entered before.`
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
    "Share of attacks caught: by a case; by challenging 1 % or 5 % of genuine sessions; by the likelihood ratio alone; by five " +
    "fixed velocity rules. The last two columns are the median number of events and of simulated minutes from the attack's first " +
    `event to its case.\n\n${table(head, rows)}`
  );
}

// If a shop hears only its pages, an attacker whose program does not run the page's scripts sends it nothing.
function heardText(kinds: KindSummary[]): string {
  const rows = kinds.map(({ kind, attacks, heard, case: caught }): Row => [
    kind,
    attacks,
    heard,
    percent(heard === 0 ? null : ((caught ?? 0) * attacks) / heard),
  ]);
  return (
    "Attacks that sent any event. The others do not run the page's scripts, so a shop whose servers are silent cannot see them. " +
    "Friendly fraud is left out, because only a server can report a chargeback.\n\n" +
    table(["simulated attack", "attacks", "sent events", "case, of those"], rows)
  );
}

export function forgedText(forged: Forged[]): string {
  const rows = forged.map((each): Row => [
    each.addresses,
    each.hours === 0 ? "at once" : `${each.hours} hours`,
    each.victims,
    each.onAccounts,
    each.score ?? "",
    each.action ?? "",
    each.onSources,
  ]);
  const head = ["addresses", "within", "accounts named", "cases on accounts", "highest score", "strongest action"];
  return (
    "What a forger achieves in a shop whose pages sign nothing. The forger names every member once, each from a new device and " +
    "session, with six failed log-ins, a log-in, a changed e-mail address and a large transfer. All of them come from a browser that " +
    `reports that a program controls it. Each address is in its own /24 block.\n\n${table([...head, "cases about sources"], rows)}`
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
    "Takeovers by the number of log-ins that the victim had before, and by whether the thief only looked around or acted (changed " +
    `something or moved money). Each cell is the share with a case and the share caught at 1 %.\n\n${table(["simulated takeover", ...histories, "looked", "acted"], rows)}`
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
  return `Genuine sessions that led to a case, by the reason with the largest weight.\n\n${table(["reason", "simulated", "per 10,000"], [...rows, ...total])}`;
}

function accountsText(kinds: KindSummary[]): string {
  const rows = kinds
    .filter(({ kind, entered }) => entered > 0 && !kind.startsWith("takeover"))
    .map(({ kind, entered, enteredWithCase }): Row => [kind, entered, enteredWithCase, percent(enteredWithCase / entered)]);
  return `Accounts that attackers entered or created, and how many of them have a case. For a sign-up, a case about its device or address counts too.\n\n${table(["simulated attack", "accounts", "with a case", "share"], rows)}`;
}

function labelsText(kinds: KindSummary[]): string {
  const labels = ["Account Takeover", "Bot", "Synthetic", "Organic"];
  const rows = kinds.map(({ kind, labels: given }): Row => [kind, ...labels.map((label) => given[label] ?? 0)]);
  return `Primary label of the cases that attacks opened. Attacks that only joined an existing case are not included.\n\n${table(["simulated attack", ...labels], rows)}`;
}

const scaleText =
  "For comparison, on real log-ins (Wiefling et al. 2022, Freeman's model), catching 98 % of targeted attackers means challenging " +
  "about 17 % of users with 12 log-ins, and 5 % of those with 40. All numbers above are simulated.";

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
