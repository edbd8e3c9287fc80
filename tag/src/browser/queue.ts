import { safely } from "./guard.ts";
import { appKey } from "./settings.ts";
import { read, remove, writeText } from "./storage.ts";
import { encode, uuid } from "./text.ts";

export type Queued = { id: string; text: string; bytes: number; isInFlight: boolean };

const eventsMax = 500;
const bytesMax = 500_000;
// Longer than the longest wait between two attempts, because each attempt stores the queue again.
const abandonedMs = 10 * 60_000;

// Every page stores its queue under its own key, so tabs cannot overwrite each other. A lock would show better which of them are
// alive, but a page that holds one is excluded from the back-forward cache.
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
  // Store once for all events of one turn, because storing blocks the page.
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

// The queue of a closed page may be taken over at once.
export function release(isPageGone: boolean): void {
  isGone = isPageGone;
  save();
}

function isQueueKey(key: string): key is typeof prefix {
  return key.startsWith(prefix);
}

// Takes over what closed pages could not deliver. It stores the events here before it removes them there. A crash in between
// sends an event twice, which the service detects, and loses none.
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
    // Save again, in case the storage was too full to hold both copies.
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
