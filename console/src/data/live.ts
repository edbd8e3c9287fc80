import type { Event as LoggedEvent } from "@casehound/client";

export type LiveEvent = LoggedEvent;
export type LiveState = "connecting" | "live" | "lost" | "not-allowed";

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

// One stream per browser tab. The browser connects again by itself and names the last event that it saw; an answer that is
// no stream at all ends that, so then we ask anew, and name it ourselves.
export class LiveStream {
  readonly #path: string;
  readonly #onEvent = new Set<(event: LiveEvent) => void>();
  readonly #onReset = new Set<() => void>();
  readonly #onState = new Set<() => void>();
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: LiveState;
  #lastId: string | null = null;

  constructor(tenant: string, isAllowed: boolean) {
    this.#path = `/v2/${encodeURIComponent(tenant)}/events/stream?types=${types.join(",")}`;
    this.#state = isAllowed ? "connecting" : "not-allowed";
  }

  open(): () => void {
    if (this.#state !== "not-allowed") this.#connect();
    return () => {
      clearTimeout(this.#timer);
      this.#source?.close();
      this.#source = null;
    };
  }

  onEvent(listener: (event: LiveEvent) => void): () => void {
    this.#onEvent.add(listener);
    return () => this.#onEvent.delete(listener);
  }

  // Everything may have changed: what was missed is more than the service keeps.
  onReset(listener: () => void): () => void {
    this.#onReset.add(listener);
    return () => this.#onReset.delete(listener);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#onState.add(listener);
    return () => this.#onState.delete(listener);
  };

  state = (): LiveState => this.#state;

  #connect(isAgain = false): void {
    const source = new EventSource(this.#lastId === null ? this.#path : `${this.#path}&after=${this.#lastId}`);
    this.#source = source;
    // Without an event that it could go on from, nobody knows what was missed.
    let isGap = isAgain && this.#lastId === null;
    let hasOpened = false;
    source.addEventListener("open", () => {
      if (isGap) this.#reset();
      hasOpened = true;
      isGap = false;
      this.#become("live");
    });
    source.addEventListener("error", () => {
      if (!hasOpened) isGap = this.#lastId === null;
      this.#become("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#connect(true), againMs);
    });
    source.addEventListener("reset", ({ lastEventId }: MessageEvent<unknown>) => {
      this.#lastId = lastEventId;
      this.#reset();
    });
    for (const type of types) source.addEventListener(type, (message) => this.#take(message));
  }

  #reset(): void {
    for (const listener of this.#onReset) listener();
  }

  #take(message: MessageEvent<unknown>): void {
    this.#lastId = message.lastEventId;
    const event = readEvent(message.data);
    if (!event) return;
    for (const listener of this.#onEvent) listener(event);
  }

  #become(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#onState) listener();
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
