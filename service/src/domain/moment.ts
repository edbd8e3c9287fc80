import { moments, type Moment } from "./label.ts";

// The cast is safe, because these are the keys of the table.
export const momentNames = Object.keys(moments) as Moment[];

const momentByType = new Map<string, Moment>(
  momentNames.flatMap((moment) => moments[moment].map((type) => [type, moment] as const)),
);

export function momentOf(type: string): Moment | null {
  return momentByType.get(type) ?? null;
}
