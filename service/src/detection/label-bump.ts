import { bumpFraud, newDays, type Days } from "./days.ts";

// One known fraud more or less, at the time of the activity.
export type FraudChange = { at: number; by: 1 | -1 };

// Returns the stored facts of an entity with these changes to its known frauds.
export function withFrauds(facts: string, changes: readonly FraudChange[]): string {
  // Only entities whose facts have `days` are counted.
  const changed = JSON.parse(facts) as { days?: Days };
  changed.days ??= newDays();
  for (const { at, by } of changes) bumpFraud(changed.days, at, by);
  return JSON.stringify(changed);
}
