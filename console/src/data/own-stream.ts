import { eventTypes, type Event as LoggedEvent } from "@casehound/client";

export type LiveEvent = LoggedEvent;
export type LiveState = "connecting" | "live" | "lost" | "not-allowed";

export type Hearer = {
  // The last event that is known, by having been told or by being in all that is read.
  lastId: number;
  onEvent: (id: number, event: LiveEvent) => void;
  onReset: (id: number) => void;
  onState: (state: LiveState) => void;
};

const againMs = 10_000;
const typesOf = (nouns: string[]) => eventTypes.filter((type) => nouns.some((noun) => type.startsWith(`${noun}.`)));
const types = typesOf(["case", "account", "rule", "thresholds"]);

// Asked for by those alone who may list people.
const peopleTypes = typesOf(["user"]);

export function streamPath(tenant: string, hasPeople: boolean): string {
  const wanted = hasPeople ? [...types, ...peopleTypes] : types;
  return `/v2/${encodeURIComponent(tenant)}/events/stream?types=${wanted.join(",")}`;
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

  open(): void {
    const hearer = this.#hearer;
    const source = new EventSource(`${this.#path}&after=${hearer.lastId}`);
    this.#source = source;
    source.addEventListener("open", () => hearer.onState("live"));
    source.addEventListener("error", () => {
      hearer.onState("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.open(), againMs);
    });
    source.addEventListener("reset", ({ lastEventId }: MessageEvent<unknown>) => hearer.onReset(Number(lastEventId)));
    for (const type of [...types, ...peopleTypes]) source.addEventListener(type, (message) => this.#take(message));
  }

  close(): void {
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
