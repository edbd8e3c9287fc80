import { fields, type Field } from "./catalogue.ts";

const byName = new Map(fields.map((field) => [field.name, field]));
const groups = new Set(fields.map(({ name }) => name.slice(0, name.indexOf("."))));
// A longer name is not a misspelling of a field, and the distance costs the product of both lengths.
const misspeltMax = 64;

export function findField(name: string): Field | undefined {
  return byName.get(name);
}

export function isGroup(name: string): boolean {
  return groups.has(name);
}

// Suggests what the author may have meant by a name that is not a field.
export function hintFor(name: string): string {
  const nearest = isGroup(name) ? null : nearestName(name);
  if (nearest !== null) return `Did you mean \`${nearest}\`?`;
  const group = name.split(".", 1)[0] ?? "";
  if (!isGroup(group)) return `A field begins with one of: ${[...groups].join(", ")}.`;
  const keys = fields.filter((field) => field.name.startsWith(`${group}.`)).map((field) => keyOf(field.name));
  return `Fields of \`${group}\`: ${keys.join(", ")}.`;
}

function nearestName(name: string): string | null {
  if (name.length > misspeltMax) return null;
  const hasGroup = name.includes(".");
  let best: { name: string; distance: number } | null = null;
  for (const field of fields) {
    const distance = editDistance(name, hasGroup ? field.name : keyOf(field.name));
    if (!best || distance < best.distance) best = { name: field.name, distance };
  }
  return best && best.distance <= Math.max(1, Math.floor(name.length / 4)) ? best.name : null;
}

function keyOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

// Levenshtein distance, computed row by row.
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
