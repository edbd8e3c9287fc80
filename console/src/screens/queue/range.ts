import type { CaseQuery } from "../../data/queries.ts";
import { fullTime } from "../../parts/clock.ts";

// The bounds for when a case was opened and last changed, as the overview links to them. Each is a UTC day or a time. The lower
// bound is inclusive and the upper one exclusive.
export type QueueRange = {
  opened_from?: string;
  opened_to?: string;
  changed_from?: string;
  changed_to?: string;
};

const names = ["opened_from", "opened_to", "changed_from", "changed_to"] as const;
const dayPattern = /^\d{4}-\d\d-\d\d$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

export function readRange(raw: Record<string, unknown>): QueueRange {
  return Object.fromEntries(names.map((name) => [name, raw[name]]).filter(([, value]) => isBound(value)));
}

function isBound(value: unknown): value is string {
  return typeof value === "string" && (dayPattern.test(value) || timePattern.test(value)) && !Number.isNaN(Date.parse(value));
}

// Both bounds on the opening time are exclusive in the list API.
export function toRangeQuery({ opened_from, opened_to, changed_from, changed_to }: QueueRange): CaseQuery {
  return {
    ...(opened_from !== undefined && { created_after: timeOf(opened_from, -1) }),
    ...(opened_to !== undefined && { created_before: timeOf(opened_to) }),
    ...(changed_from !== undefined && { updated_since: timeOf(changed_from) }),
    ...(changed_to !== undefined && { updated_before: timeOf(changed_to) }),
  };
}

export function fromRangeQuery({ created_after, created_before, updated_since, updated_before }: CaseQuery): QueueRange {
  return {
    ...(created_after !== undefined && { opened_from: boundOf(created_after, 1) }),
    ...(created_before !== undefined && { opened_to: boundOf(created_before) }),
    ...(updated_since !== undefined && { changed_from: boundOf(updated_since) }),
    ...(updated_before !== undefined && { changed_to: boundOf(updated_before) }),
  };
}

// A day if the time is the beginning of one.
function boundOf(time: string, shiftMs = 0): string {
  const text = timeOf(time, shiftMs);
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
}

function timeOf(bound: string, shiftMs = 0): string {
  return new Date(Date.parse(bound) + shiftMs).toISOString();
}

// A case that has never changed counts as changed when it was opened.
export function isWithin(
  range: QueueRange,
  { created_at, updated_at }: { created_at: string; updated_at: string | null },
): boolean {
  const opened = Date.parse(created_at);
  const changed = Date.parse(updated_at ?? created_at);
  return (
    (range.opened_from === undefined || opened >= Date.parse(range.opened_from)) &&
    (range.opened_to === undefined || opened < Date.parse(range.opened_to)) &&
    (range.changed_from === undefined || changed >= Date.parse(range.changed_from)) &&
    (range.changed_to === undefined || changed < Date.parse(range.changed_to))
  );
}

type RangeChip = { name: string; drop: { [name in keyof QueueRange]: undefined } };

export function rangeChips({ opened_from, opened_to, changed_from, changed_to }: QueueRange): RangeChip[] {
  const chips: RangeChip[] = [];
  if (opened_from !== undefined || opened_to !== undefined)
    chips.push({ name: `Opened ${rangeWords(opened_from, opened_to)}`, drop: { opened_from: undefined, opened_to: undefined } });
  if (changed_from !== undefined || changed_to !== undefined)
    chips.push({
      name: `Changed ${rangeWords(changed_from, changed_to)}`,
      drop: { changed_from: undefined, changed_to: undefined },
    });
  return chips;
}

const dayMs = 24 * 3_600_000;
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

function boundWords(bound: string): string {
  return dayPattern.test(bound) ? day.format(Date.parse(bound)) : fullTime.format(Date.parse(bound));
}

function rangeWords(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return `before ${boundWords(to ?? "")}`;
  if (to === undefined) return `since ${boundWords(from)}`;
  if (!dayPattern.test(from) || !dayPattern.test(to)) return `${boundWords(from)} to ${boundWords(to)}`;
  const last = Date.parse(to) - dayMs;
  return last <= Date.parse(from)
    ? `on ${day.format(last)} (UTC)`
    : `${day.format(Date.parse(from))} to ${day.format(last)} (UTC)`;
}
