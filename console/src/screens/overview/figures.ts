import type { Overview, Rule } from "@casehound/client";
import type { QueueFilter } from "../queue/search.ts";
import { count, percent, type Chart } from "./chart.ts";

const dayMs = 24 * 3_600_000;
// More bars than this are too thin to hit, so they are grouped by week.
const barsMax = 100;

const dayWords = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

type Day = { day: string };
type Span<T extends Day> = { from: string; to: string; name: string; days: T[] };

function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

// Days, or weeks that end with the last day. The first week may be shorter.
function spansOf<T extends Day>(days: T[]): Span<T>[] {
  const size = days.length > barsMax ? 7 : 1;
  const first = days.length % size;
  const starts = [
    ...(first > 0 ? [0] : []),
    ...Array.from({ length: Math.floor(days.length / size) }, (_, at) => first + at * size),
  ];
  return starts.map((start, index) => {
    const within = days.slice(start, starts[index + 1] ?? days.length);
    const from = within[0]?.day ?? "";
    const last = within.at(-1)?.day ?? "";
    const name =
      from === last
        ? dayWords.format(Date.parse(from))
        : `${dayWords.format(Date.parse(from))} to ${dayWords.format(Date.parse(last))}`;
    return { from, to: dayAfter(last), name, days: within };
  });
}

function sum<T>(all: T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

export function openedIn({ from, to }: { from: string; to: string }): QueueFilter {
  return { status: "all", sort: "newest", opened_from: from, opened_to: to };
}

export function closedIn({ from, to }: { from: string; to: string }): QueueFilter {
  return { status: "closed", sort: "changed", changed_from: from, changed_to: to };
}

export function daysChart({ days }: Overview): Chart {
  const spans = spansOf(days);
  const isDaily = spans.length === days.length;
  return {
    title: `Opened and closed per ${isDaily ? "day" : "week"}`,
    rowTitle: isDaily ? "Day" : "Week",
    isOverTime: true,
    series: [
      { name: "Opened", look: "bg-accent" },
      { name: "Closed", look: "bg-edge" },
    ],
    rows: spans.map((span) => {
      const opened = sum(span.days, (day) => day.opened);
      const closed = sum(span.days, (day) => day.closed);
      return {
        key: span.from,
        name: span.name,
        cells: [
          {
            value: opened,
            shown: count.format(opened),
            words: `${span.name}: ${count.format(opened)} opened`,
            leadsTo: openedIn(span),
          },
          {
            value: closed,
            shown: count.format(closed),
            words: `${span.name}: ${count.format(closed)} closed`,
            leadsTo: closedIn(span),
          },
        ],
      };
    }),
  };
}

export function trafficChart(days: { day: string; events: number }[]): Chart {
  const spans = spansOf(days);
  return {
    title: `Site events per ${spans.length === days.length ? "day" : "week"}`,
    rowTitle: spans.length === days.length ? "Day" : "Week",
    isOverTime: true,
    series: [{ name: "Events", look: "bg-edge" }],
    rows: spans.map((span) => {
      const events = sum(span.days, (day) => day.events);
      const words = `${span.name}: ${count.format(events)} events. Shows the cases opened then`;
      return {
        key: span.from,
        name: span.name,
        cells: [{ value: events, shown: count.format(events), words, leadsTo: openedIn(span) }],
      };
    }),
  };
}

const ageNames = ["Up to 1 hour", "1 hour to 1 day", "1 to 3 days", "3 to 7 days", "7 to 30 days", "Over 30 days"];

export function backlogChart({ backlog }: Overview): Chart {
  return {
    title: "Age of the backlog",
    rowTitle: "Age",
    series: [{ name: "Open cases", look: "bg-accent" }],
    rows: backlog.map(({ created_after, created_before, cases }, index) => {
      const name = ageNames[index] ?? "Older";
      const leadsTo: QueueFilter = {
        sort: "oldest",
        // The response's bound is exclusive, but the queue's is inclusive.
        ...(created_after !== null && { opened_from: new Date(Date.parse(created_after) + 1).toISOString() }),
        ...(created_before !== null && { opened_to: created_before }),
      };
      return {
        key: name,
        name,
        cells: [{ value: cases, shown: count.format(cases), words: `${name}: ${count.format(cases)} open`, leadsTo }],
      };
    }),
  };
}

const scoreWords = ["", "very low", "low", "medium", "high", "very high"];
const scoreLooks = ["", "bg-risk-1", "bg-risk-2", "bg-risk-3", "bg-risk-4", "bg-risk-5"];

// The only chart whose rows have their own colors. They match the rest of the console, and the number shows the score too.
export function scoresChart({ scores }: Overview): Chart & { looks: string[] } {
  const rows = scores.toSorted((a, b) => b.score - a.score);
  return {
    title: "Open cases by risk",
    rowTitle: "Risk",
    series: [{ name: "Open cases", look: "bg-accent" }],
    looks: rows.map(({ score }) => scoreLooks[score] ?? ""),
    rows: rows.map(({ score, cases }) => ({
      key: String(score),
      name: `${score}, ${scoreWords[score] ?? ""}`,
      cells: [
        {
          value: cases,
          shown: count.format(cases),
          words: `Risk ${score}: ${count.format(cases)} open`,
          leadsTo: { ...(score > 1 && { score }), ...(score < 5 && { score_max: score }) },
        },
      ],
    })),
  };
}

const outcomeNames = {
  confirmed: "Confirmed fraud",
  false_positives: "False positive",
  inconclusive: "Inconclusive",
  none: "No outcome given",
};

// The case list cannot filter by outcome. So every row links to all cases closed in the range, and its title says so.
export const toAllClosed = "Shows all cases closed on these days, whatever their outcome";

export function outcomesChart({ outcomes, closed, start_date, end_date }: Overview): Chart {
  const leadsTo = closedIn({ from: start_date, to: end_date });
  const names = ["confirmed", "false_positives", "inconclusive", "none"] as const;
  return {
    title: "How closed cases ended",
    rowTitle: "Outcome",
    noteTitle: "Share",
    series: [{ name: "Closed cases", look: "bg-accent" }],
    rows: names.map((key) => {
      const name = outcomeNames[key];
      const cases = outcomes[key];
      const note = closed === 0 ? "" : percent.format(cases / closed);
      return {
        key,
        name,
        note,
        cells: [{ value: cases, shown: count.format(cases), words: `${name}: ${count.format(cases)}. ${toAllClosed}`, leadsTo }],
      };
    }),
  };
}

// Only rules with at least one verdict, worst first.
export function rulesChart(rules: Rule[]): Chart {
  const judged = rules.flatMap((rule) => {
    const { precision, confirmed, false_positives } = rule.precision;
    return precision === null ? [] : [{ rule, share: 1 - precision, wrong: false_positives, all: confirmed + false_positives }];
  });
  return {
    title: "False positives per rule",
    rowTitle: "Rule",
    noteTitle: "False positives among decided",
    series: [{ name: "Share of false positives", look: "bg-accent" }],
    highest: 1,
    rows: judged
      .toSorted((a, b) => b.share - a.share || b.all - a.all)
      .map(({ rule, share, wrong, all }) => ({
        key: rule.rule_id,
        name: rule.name,
        note: `${count.format(wrong)} of ${count.format(all)}`,
        cells: [
          {
            value: share,
            shown: percent.format(share),
            words: `${rule.name}: ${percent.format(share)}, ${wrong} of ${all}. Shows the closed cases labelled ${rule.label}`,
            leadsTo: { status: "closed" as const, label: rule.label, sort: "changed" as const },
          },
        ],
      })),
  };
}

export function durationWords(seconds: number | null): string {
  if (seconds === null) return "none yet";
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} d`;
}
