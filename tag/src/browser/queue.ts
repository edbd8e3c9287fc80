import { safely } from "./guard.ts";
import { appKey } from "./settings.ts";
import { read, remove, writeText } from "./storage.ts";
import { encode, uuid } from "./text.ts";

export type Queued = { id: string; text: string; bytes: number; isInFlight: boolean };

const eventsMax = 500;
const bytesMax = 500_000;
// Longer than the longest wait between two attempts, each of which stores the queue anew.
const abandonedMs = 10 * 60_000;

// Every page keeps its queue under a key of its own, so that tabs cannot overwrite each other. A lock would tell better which
// of them live, but browsers keep no page that holds one for the way back.
const prefix = `casehound.queue.${appKey}.` as const;
const ownKey = `${prefix}${uuid()}` as const;
let queue: Queued[] = [];
let isSaving = false;
let isGone = false;

export function waitingCount(): number {
  return queue.length;
}

export function queued(id: string, text: string): Queued {
  return { id, text, bytes: encode(text).length + 1, isInFlight: false };
}

export function enqueue(added: Queued): void {
  queue.push(added);
  dropOldest();
  // Once for all the events of one turn, since storing blocks the page.
  if (!isSaving) void Promise.resolve().then(save);
  isSaving = true;
}

function dropOldest(): void {
  let bytes = queue.reduce((sum, each) => sum + each.bytes, 0);
  while (queue.length > eventsMax || bytes > bytesMax) bytes -= queue.shift()?.bytes ?? bytes;
}

export function save(): void {
  isSaving = false;
  if (queue.length === 0) remove(ownKey);
  else writeText(ownKey, `{"at":${isGone ? 0 : Date.now()},"events":${bodyOf(queue)}}`);
}

// A queue whose page has gone may be taken over at once.
export function release(isPageGone: boolean): void {
  isGone = isPageGone;
  save();
}

function isQueueKey(key: string): key is typeof prefix {
  return key.startsWith(prefix);
}

// Takes over what pages that have gone could not deliver. It is stored here before it is removed there: whatever happens in
// between sends an event twice, which the service notices, and loses none.
export const adopt = safely(() => {
  for (const key of Object.keys(localStorage)) {
    if (!isQueueKey(key) || key === ownKey) continue;
    const left = read(key);
    if (left && Math.abs(Date.now() - left.at) < abandonedMs) continue;
    const known = new Set(queue.map(({ id }) => id));
    const events = left?.events.filter(({ event_id }) => !known.has(event_id)) ?? [];
    queue.unshift(...events.map((event) => queued(event.event_id, JSON.stringify(event))));
    dropOldest();
    save();
    remove(key);
    // Once more, for a storage that was too full to hold both.
    save();
  }
});

export function take(chunkBytesMax: number): Queued[] {
  let bytes = 1;
  return queue.filter((each) => !each.isInFlight && (bytes += each.bytes) <= chunkBytesMax);
}

export function confirm(batch: Queued[]): void {
  queue = queue.filter((each) => !batch.includes(each));
  save();
}

export function bodyOf(batch: Queued[]): string {
  return `[${batch.map(({ text }) => text).join()}]`;
}
