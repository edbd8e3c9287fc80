import type { Model, Operations } from "@casehound/client";

export type ModelList = Operations["listModels"]["data"];
type Moment = Model["moment"];

export const momentNames: Record<Moment, string> = {
  entry: "Log-ins and account changes",
  signup: "Sign-ups",
  value: "Payments and transfers",
};
// The cast is safe, because these are the keys of the table.
export const moments = Object.keys(momentNames) as Moment[];

export function activitiesOf(moment: Moment): string {
  return momentNames[moment].toLowerCase();
}

const idCharacters = 12;

// As long as the short ids in decisions.
export function shortId(id: string): string {
  return id.slice(0, idCharacters);
}

// Returns the previous champion, to which a person can roll back.
export function championBefore(models: readonly Model[], moment: Moment): Model | undefined {
  return models
    .filter((each) => each.moment === moment && each.state === "RETIRED" && each.promoted_at !== undefined)
    .toSorted((a, b) => Date.parse(b.retired_at ?? "") - Date.parse(a.retired_at ?? ""))[0];
}
