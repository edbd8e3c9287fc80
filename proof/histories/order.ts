import type { Listing, Sight } from "./history.ts";
import type { Registers } from "./registers.ts";

// A read happens at one position. A change happens at its own position, and everything else it saw must hold there too. `after`
// is a position that must have been reached, for example by a replay of what happened there.
export type Operation = {
  begin: number;
  end: number;
  what: string;
  sights: Sight[];
  change?: { first: number; last: number };
  after?: number;
  listed?: Listing;
};

export type Openings = Map<string, { case_id: string; position: number }[]>;

type Placed = { operation: Operation; floor: number; floorBy: Operation | null };

const shown = ({ what, begin, end }: Operation) => `${what} [${begin.toFixed(2)}, ${end.toFixed(2)}]`;
const shownSights = (sights: Sight[]) => sights.map(({ register, value }) => `${register}=${String(value)}`).join(", ");

// Strict serializability of the whole tenant. Every operation gets a position in the log where everything it saw is true, and
// never an earlier one than an operation that ended before it began. Each takes the earliest possible position, which leaves the
// most room for later ones, so a valid history is never rejected. Two sorts and one sweep: O(n log n).
export function findDisorder(operations: Operation[], registers: Registers, openings: Openings): string[] {
  const violations: string[] = [];
  const byBegin = operations
    .map((operation): Placed => ({ operation, floor: 0, floorBy: null }))
    .toSorted((a, b) => a.operation.begin - b.operation.begin);
  const byEnd = byBegin.toSorted((a, b) => compare(a.operation.end, b.operation.end));
  let floor = 0;
  let floorBy: Operation | null = null;
  let ended = 0;
  const settle = (placed: Placed) => {
    const place = placed.operation.change ? placeChange(placed, registers) : placeRead(placed, registers, openings);
    if (typeof place === "string") violations.push(place);
    else if (place > floor) [floor, floorBy] = [place, placed.operation];
  };
  for (const placed of byBegin) {
    for (let next = byEnd[ended]; next && next.operation.end < placed.operation.begin; next = byEnd[++ended]) settle(next);
    placed.floor = floor;
    placed.floorBy = floorBy;
  }
  for (const placed of byEnd.slice(ended)) settle(placed);
  return violations;
}

// Subtraction does not work, because Infinity minus Infinity is NaN.
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function placeChange({ operation, floor, floorBy }: Placed, registers: Registers): number | string {
  const { first, last } = operation.change ?? { first: 0, last: 0 };
  if (floor >= first && floorBy)
    return `real time: ${shown(operation)} made change ${first}, but before it began ${shown(floorBy)} had seen change ${floor}`;
  const wrong = operation.sights.filter(({ register, value }) => registers.next(register, value, last) !== last);
  if (wrong.length > 0) return `response: ${shown(operation)} made change ${last}, but ${shownSights(wrong)} is not true there`;
  return last;
}

function placeRead({ operation, floor, floorBy }: Placed, registers: Registers, openings: Openings): number | string {
  const { sights, after = 0, listed } = operation;
  const limit = listed ? firstUnlisted(listed, openings) : Infinity;
  const place = findPlace(sights, registers, Math.max(floor, after));
  if (place < limit) return place;
  const saw = `${shown(operation)} saw ${shownSights(sights)}`;
  const anyPlace = findPlace(sights, registers, 0);
  if (anyPlace === Infinity) return `no such state: ${saw}, which was never true at one time`;
  if (anyPlace >= limit) return `missing: ${saw}, but not the case that change ${limit} opened`;
  const by = floorBy ? `, and before it began ${shown(floorBy)} had seen change ${floor}` : "";
  return `stale: ${saw}, which was true at ${anyPlace}, but no longer from ${Math.max(floor, after)} on${by}`;
}

// The first position from `from` on at which all sights are true.
function findPlace(sights: Sight[], registers: Registers, from: number): number {
  let place = from;
  for (let isMoved = true; isMoved && place < Infinity;) {
    const next = sights.reduce((at, { register, value }) => registers.next(register, value, at), place);
    isMoved = next !== place;
    place = next;
  }
  return place;
}

// Openings are in order, so this reads at most one more than the list shows.
function firstUnlisted({ account, cases }: Listing, openings: Openings): number {
  return openings.get(account)?.find(({ case_id }) => !cases.has(case_id))?.position ?? Infinity;
}
