import type { Event as LoggedEvent } from "@casehound/client";

export type LiveEvent = LoggedEvent;
export type LiveState = "connecting" | "live" | "lost" | "not-allowed";

// How far somebody was told: the last event's id, where one is known, and when that was.
export type Place = { id: string | null; atMs: number };

export type Hearer = {
  place: Place;
  onEvent: (id: string, event: LiveEvent) => void;
  onReset: (id: string | null) => void;
  onState: (state: LiveState) => void;
};

const againMs = 10_000;
const types = [
  "case.opened",
  "case.evidence_added",
  "case.closed",
  "case.reopened",
  "case.pseudonymised",
  "account.created",
  "account.updated",
  "account.erased",
  "rule.updated",
  "thresholds.updated",
];

export function streamPath(tenant: string): string {
  return `/v2/${encodeURIComponent(tenant)}/events/stream?types=${types.join(",")}`;
}

// A connection to the service. The browser connects again by itself and names the last event that it saw; an answer that is
// no stream at all ends that, so then we ask anew, and name it ourselves.
export class OwnStream {
  readonly #path: string;
  readonly #hearer: Hearer;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, hearer: Hearer) {
    this.#path = path;
    this.#hearer = hearer;
  }

  // `isAgain`: something may have happened since it was last heard.
  open(isAgain: boolean): void {
    const hearer = this.#hearer;
    const after = hearer.place.id;
    const source = new EventSource(after === null ? this.#path : `${this.#path}&after=${after}`);
    this.#source = source;
    // Without an event that it could go on from, nobody knows what was missed.
    let isGap = isAgain && after === null;
    let hasOpened = false;
    source.addEventListener("open", () => {
      if (isGap) hearer.onReset(null);
      hasOpened = true;
      isGap = false;
      hearer.onState("live");
    });
    source.addEventListener("error", () => {
      if (!hasOpened) isGap = hearer.place.id === null;
      hearer.onState("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.open(true), againMs);
    });
    source.addEventListener("reset", ({ lastEventId }: MessageEvent<unknown>) => hearer.onReset(lastEventId));
    for (const type of types) source.addEventListener(type, (message) => this.#take(message));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
  }

  #take({ lastEventId, data }: MessageEvent<unknown>): void {
    const event = readEvent(data);
    if (event) this.#hearer.onEvent(lastEventId, event);
  }
}

function readEvent(data: unknown): LiveEvent | null {
  try {
    const event: unknown = JSON.parse(String(data));
    const isEvent = typeof event === "object" && event !== null && "type" in event && "resource" in event;
    return isEvent ? (event as LiveEvent) : null;
  } catch {
    return null;
  }
}
