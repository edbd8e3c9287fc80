import { randomFillSync } from "node:crypto";
import { uuidV7 } from "./domain/uuid.ts";

// Filled for many ids at once, because each call takes longer than everything else that makes an id.
const randomPool = new Uint8Array(10 * 400);
let used = randomPool.length;

function nextRandom(): Uint8Array {
  if (used === randomPool.length) {
    randomFillSync(randomPool);
    used = 0;
  }
  used += 10;
  return randomPool.subarray(used - 10, used);
}

// The only source of time and ids. Everything below gets them as arguments.
export const clock = {
  now: () => new Date().toISOString(),
  newId: (at?: string) => uuidV7(at === undefined ? Date.now() : Date.parse(at), nextRandom()),
};
