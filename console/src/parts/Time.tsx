import { useSyncExternalStore } from "react";
import { fullTime } from "./clock.ts";

const tickMs = 15_000;
let nowMs = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

// One timer for all ages on the page.
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const each of listeners) each();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

export function ageWords(at: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

// Shows how long ago it was, and the exact time on hover.
export function Age({ at, suffix = "" }: { at: string; suffix?: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={fullTime.format(new Date(at))} className="age">
      {ageWords(at, Math.max(now, Date.parse(at)))}
      {suffix}
    </time>
  );
}

// Shows how long from now it is.
export function Until({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={fullTime.format(new Date(at))} className="age">
      in {ageWords(new Date(now).toISOString(), Date.parse(at))}
    </time>
  );
}

export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{fullTime.format(new Date(at))}</time>;
}
