import { eventTypes, type Event as LoggedEvent } from "@casehound/client";

export type LiveEvent = LoggedEvent;
export type LiveState = "connecting" | "live" | "lost" | "not-allowed";

export type Hearer = {
  // The last known event: either it was received here, or everything that is read already includes it.
  lastId: number;
  onEvent: (id: number, event: LiveEvent) => void;
  onReset: (id: number) => void;
  onState: (state: LiveState) => void;
};

const againMs = 10_000;
const typesOf = (nouns: string[]) => eventTypes.filter((type) => nouns.some((noun) => type.startsWith(`${noun}.`)));
const types = typesOf(["case", "account", "rule", "thresholds", "policy", "view", "due_times", "approval_settings"]);

// Requested only for people who may see them.
const guardedNouns = ["user", "model", "list", "approval"] as const;
export type GuardedNoun = (typeof guardedNouns)[number];

export function streamPath(tenant: string, guarded: GuardedNoun[]): string {
  const wanted = [...types, ...typesOf(guarded)];
  return `/v2/${encodeURIComponent(tenant)}/events/stream?types=${wanted.join(",")}`;
}

// A connection to the service. The browser reconnects by itself and sends the id of the last event it saw. It gives up if the
// response is not a stream, so then we reconnect and send that id ourselves.
export class OwnStream {
  readonly #path: string;
  readonly #hearer: Hearer;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, hearer: Hearer) {
    this.#path = path;
    this.#hearer = hearer;
  }

  // A browser that goes offline may keep a dead connection for minutes without an error. So connect anew: a service on the same
  // machine can still be reached.
  open(): void {
    window.addEventListener("offline", this.#again);
    window.addEventListener("online", this.#again);
    this.#connect();
  }

  readonly #again = () => {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#hearer.onState("lost");
    this.#connect();
  };

  #connect(): void {
    const hearer = this.#hearer;
    const source = new EventSource(`${this.#path}&after=${hearer.lastId}`);
    this.#source = source;
    source.addEventListener("open", () => hearer.onState("live"));
    source.addEventListener("error", () => {
      hearer.onState("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#connect(), againMs);
    });
    source.addEventListener("reset", ({ lastEventId }: MessageEvent<unknown>) => hearer.onReset(Number(lastEventId)));
    for (const type of [...types, ...typesOf([...guardedNouns])]) source.addEventListener(type, (message) => this.#take(message));
  }

  close(): void {
    window.removeEventListener("offline", this.#again);
    window.removeEventListener("online", this.#again);
    clearTimeout(this.#timer);
    this.#source?.close();
  }

  #take({ lastEventId, data }: MessageEvent<unknown>): void {
    const event = readEvent(data);
    if (event) this.#hearer.onEvent(Number(lastEventId), event);
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
