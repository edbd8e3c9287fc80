export type LiveEvent = {
  event_id: string;
  type: string;
  occurred_at: string;
  actor: string;
  resource: { type: string; id: string; version?: number };
};

export type LiveState = "connecting" | "live" | "lost";

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
  "tenant.updated",
];

// One stream per browser tab. The browser connects again by itself and names the last event that it saw; an answer that is
// no stream at all ends that, so then we ask anew.
export class LiveStream {
  readonly #url: string;
  readonly #onEvent = new Set<(event: LiveEvent) => void>();
  readonly #onReset = new Set<() => void>();
  readonly #onState = new Set<() => void>();
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: LiveState = "connecting";

  constructor(tenant: string) {
    this.#url = `/v2/${encodeURIComponent(tenant)}/events/stream`;
  }

  open(): () => void {
    this.#connect();
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

  #connect(): void {
    const source = new EventSource(this.#url);
    this.#source = source;
    source.addEventListener("open", () => this.#become("live"));
    source.addEventListener("error", () => {
      this.#become("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#connect(), againMs);
    });
    source.addEventListener("reset", () => {
      for (const listener of this.#onReset) listener();
    });
    for (const type of types) source.addEventListener(type, (message) => this.#take(message));
  }

  #take(message: MessageEvent<unknown>): void {
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
