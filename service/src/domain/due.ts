import { Type, type Static } from "typebox";
import { addWorkingTime } from "./business-hours.ts";
import type { CaseDocument } from "./case.ts";
import type { FieldError } from "./failure.ts";
import { Score, labels } from "./finding.ts";

const targetsMax = 20;
const hoursMax = 720;
const daysOffMax = 100;
const hourMs = 3_600_000;

const clockPattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$";

export const DueTimes = Type.Object(
  {
    due_times_version: Type.Integer({
      minimum: 1,
      description: "The version that you have read. Every change raises it by one.",
    }),
    days: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      minItems: 1,
      maxItems: 7,
      description: "The working days: 1 is Monday, 7 is Sunday.",
    }),
    start: Type.String({ pattern: clockPattern, description: "When a working day begins, in the tenant's time zone." }),
    end: Type.String({
      pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
      description: "When a working day ends, at least an hour after it begins. `24:00` is midnight.",
    }),
    days_off: Type.Array(Type.String({ format: "date" }), {
      maxItems: daysOffMax,
      description: "Dates on which nobody works, such as `2026-12-25`.",
    }),
    targets: Type.Array(
      Type.Object(
        {
          min_score: Score,
          label: Type.Optional(Type.Enum([...labels])),
          hours: Type.Integer({ minimum: 1, maximum: hoursMax, description: "Working hours from the opening of the case." }),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: targetsMax,
        description:
          "The first target that matches the case's score and primary label applies. A case that matches none has no due time. Without targets, there are no due times.",
      },
    ),
  },
  { additionalProperties: false, $id: "DueTimes" },
);
export type DueTimes = Static<typeof DueTimes>;

export const noDueTimes: DueTimes = {
  due_times_version: 1,
  days: [1, 2, 3, 4, 5],
  start: "09:00",
  end: "17:00",
  days_off: [],
  targets: [],
};

function minuteOf(clock: string): number {
  const [hours = "", minutes = ""] = clock.split(":");
  return Number(hours) * 60 + Number(minutes);
}

// Checks what the schema cannot. Runs even if the schema is violated.
export function dueTimesFaults({ days, days_off, start, end }: DueTimes): FieldError[] {
  const faults: FieldError[] = [];
  for (const [field, list] of Object.entries<unknown>({ days, days_off }))
    if (Array.isArray(list) && new Set(list).size < list.length) faults.push({ field, message: "must not contain duplicates" });
  // If a text is not a time, its minutes are NaN, and the comparison is false.
  if (typeof start === "string" && typeof end === "string" && minuteOf(end) - minuteOf(start) < 60)
    faults.push({ field: "end", message: "must be at least an hour after start" });
  return faults;
}

// A tenant's due times, and its time zone.
export type Due = { times: DueTimes; zone: string };

// When the case was opened, or last reopened.
function openedAt({ created_at, current_state, state_history }: CaseDocument): string {
  const states = [...state_history, current_state];
  const closed = states.findLastIndex(({ case_status }) => case_status === "CLOSED");
  return closed === -1 ? created_at : (states[closed + 1]?.changed_at ?? created_at);
}

function dueAt(document: CaseDocument, { times, zone }: Due): string | undefined {
  const { overall_risk_score: score, primary_fraud_label: label } = document.details;
  const target = times.targets.find((each) => score >= each.min_score && (each.label === undefined || each.label === label));
  if (!target) return undefined;
  const hours = { days: times.days, daysOff: times.days_off, startMinute: minuteOf(times.start), endMinute: minuteOf(times.end) };
  const from = Date.parse(openedAt(document));
  return new Date(addWorkingTime(from, target.hours * hourMs, { hours, zone })).toISOString();
}

// Sets the due time of an open case. It depends only on the case and on the settings, which a tenant without due times lacks.
export function withDue(document: CaseDocument, due: Due | undefined): CaseDocument {
  const at = due && dueAt(document, due);
  if (at === document.due_at) return document;
  const { due_at: _before, ...rest } = document;
  return at === undefined ? rest : { ...rest, due_at: at };
}

type Weighed = Pick<CaseDocument, "details">;

// Whether evidence changed what the due time depends on.
export function isReweighed({ details: before }: Weighed, { details: after }: Weighed): boolean {
  return before.overall_risk_score !== after.overall_risk_score || before.primary_fraud_label !== after.primary_fraud_label;
}
