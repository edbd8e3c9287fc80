import { safely } from "./guard.ts";

type Device = { device_id: string; unique_id: string; first_touch: number; owner?: string };
type UserAttribute = { value: string; set_timestamp: number };
export type Page = { url: string; title: string; at: number };
export type Session = { id: string; start: number; number: number; at: number; page?: Page | undefined };
type Queue = { at: number; events: { event_id: string }[] };
// Separate keys, because tabs write them at any time. A tab that keeps the session alive must not undo another's change of user.
type Stored = {
  "casehound.device": Device;
  "casehound.user": UserAttribute;
  "casehound.identity": UserAttribute;
  "casehound.session": Session;
  "casehound.sequence": number;
  [queue: `casehound.queue.${string}`]: Queue;
};

// Holds every key that could not be stored because storage is blocked or full.
const memory = new Map<string, string>();

// Only the tag writes its keys. A page that changes them can falsify no more than it could send anyway.
export function read<K extends keyof Stored>(key: K): Stored[K] | undefined {
  try {
    return JSON.parse(memory.get(key) ?? localStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

export function write<K extends keyof Stored>(key: K, value: Stored[K]): void {
  writeText(key, JSON.stringify(value));
}

export function writeText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
    memory.delete(key);
  } catch {
    memory.set(key, text);
  }
}

export function remove(key: string): void {
  memory.delete(key);
  safely(() => localStorage.removeItem(key))();
}
