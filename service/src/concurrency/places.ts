import { Counts } from "./counts.ts";

export type Wanted = { limit: string; key: string; max: number; ofOneMax: number };

// Limits how many may do something at once, in total and for each key. With several processes, the first one counts for all of them.
export class Places {
  readonly #counts = new Counts();

  enter({ limit, key, max, ofOneMax }: Wanted): boolean {
    const isFull = this.#counts.of(limit) >= max || this.#counts.of(`${limit} ${key}`) >= ofOneMax;
    if (!isFull) this.#add(limit, key, 1);
    return !isFull;
  }

  leave(limit: string, key: string): void {
    this.#add(limit, key, -1);
  }

  #add(limit: string, key: string, change: number): void {
    this.#counts.add(limit, change);
    this.#counts.add(`${limit} ${key}`, change);
  }
}

type Door = { enter: (wanted: Wanted) => boolean | Promise<boolean>; leave: (limit: string, key: string) => void };

const own: Door = new Places();
let door = own;

// From now on, another process counts.
export function enterThrough(other: Door): void {
  door = other;
}

// Returns a function that gives the place back, or null if all are taken.
export async function takePlace(wanted: Wanted): Promise<(() => void) | null> {
  const { limit, key } = wanted;
  const used = door;
  return (await used.enter(wanted)) ? () => used.leave(limit, key) : null;
}
