import { shadowFraudsMin, type Model } from "./model.ts";

const newFraudsMin = 50;
const daysMax = 7;
const shadowDaysMax = 45;
const dayMs = 24 * 60 * 60 * 1000;

// A model is trained again when there are 50 new frauds or, if there is any, after 7 days, but at most once a day.
export function isTrainingDue({ last, newFrauds, now }: { last: string | null; newFrauds: number; now: string }): boolean {
  if (last === null) return newFrauds >= newFraudsMin;
  const days = (Date.parse(now) - Date.parse(last)) / dayMs;
  return days >= 1 - 1 / 12 && (newFrauds >= newFraudsMin || (newFrauds > 0 && days >= daysMax));
}

// Whether a challenger must not be replaced by a newer one yet, because it has not rated enough known frauds to be judged.
// Otherwise a tenant with few frauds would never get a champion.
export function isInShadow({ created_at, figures }: Pick<Model, "created_at" | "figures">, now: string): boolean {
  if ((figures.shadow?.frauds ?? 0) >= shadowFraudsMin) return false;
  return Date.parse(now) - Date.parse(created_at) < shadowDaysMax * dayMs;
}
