import type { Features } from "./catalogue.ts";

// Numbers that differ by this factor or more count as entirely different.
const factorMax = 8;

// What happens to everybody at the time says nothing about the activity.
const isOwn = (name: string) => !name.startsWith("tenant.");

// Compares two stored vectors, 0 to 1. Only values that differ from their zero in at least one of the two are compared, because most
// values are zero in both. Texts are left out: most are ids, which differ between accounts that were attacked in the same way.
export function similarityOf(one: Features, other: Features): number {
  const names = new Set([...Object.keys(one), ...Object.keys(other)].filter(isOwn));
  let compared = 0;
  let sum = 0;
  for (const name of names) {
    const distance = distanceOf(one[name], other[name]);
    if (distance === null) continue;
    compared++;
    sum += distance;
  }
  return compared === 0 ? 0 : 1 - sum / compared;
}

type Value = Features[string] | undefined;

function distanceOf(one: Value, other: Value): number | null {
  if (typeof one === "string" || typeof other === "string") return null;
  if (typeof one === "boolean" || typeof other === "boolean") return (one ?? false) === (other ?? false) ? 0 : 1;
  const [a, b] = [scaled(one ?? 0), scaled(other ?? 0)];
  return Math.min(Math.abs(a - b) / Math.log(factorMax), 1);
}

// Counts and amounts differ by factors, so they are compared on a logarithmic scale.
function scaled(value: number): number {
  return Math.sign(value) * Math.log1p(Math.abs(value));
}
