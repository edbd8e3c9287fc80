import { OwnStream, streamPath, type Hearer, type LiveEvent, type LiveState } from "./own-stream.ts";
import { SharedStream, canShare } from "./shared-stream.ts";

export type { LiveEvent };

// `lastEventId`: what was told up to it is in whatever the tab reads.
type Reader = { tenant: string; userId: string; isAllowed: boolean; hasPeople: boolean; lastEventId: number };

// What happens, told as it happens. One connection for a browser, however many tabs of a person it has; where a browser cannot
// share it, one for each tab.
export class LiveStream {
  readonly #path: string;
  readonly #name: string;
  readonly #onEvent = new Set<(event: LiveEvent) => void>();
  readonly #onReset = new Set<() => void>();
  readonly #onState = new Set<() => void>();
  readonly #hearer: Hearer;
  #state: LiveState;

  constructor({ tenant, userId, isAllowed, hasPeople, lastEventId }: Reader) {
    this.#path = streamPath(tenant, hasPeople);
    // With the whole path: tabs of an earlier console may ask for other types.
    this.#name = `casehound.live ${userId} ${this.#path}`;
    this.#state = isAllowed ? "connecting" : "not-allowed";
    this.#hearer = this.#hearing(lastEventId);
  }

  // A page that is put aside for the way back holds up no other tab; when it comes back it goes on from where it was.
  open(): () => void {
    if (this.#state === "not-allowed") return () => {};
    let stream = this.#connect(false);
    const hide = () => stream.close();
    const show = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      this.#become("lost");
      stream = this.#connect(true);
    };
    window.addEventListener("pagehide", hide);
    window.addEventListener("pageshow", show);
    return () => {
      window.removeEventListener("pagehide", hide);
      window.removeEventListener("pageshow", show);
      stream.close();
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

  #connect(isAgain: boolean): { close: () => void } {
    const given = { name: this.#name, path: this.#path, hearer: this.#hearer };
    const stream = canShare() ? new SharedStream(given) : new OwnStream(this.#path, this.#hearer);
    stream.open(isAgain);
    return stream;
  }

  #hearing(lastId: number): Hearer {
    const hearer: Hearer = {
      lastId,
      onEvent: (id, event) => {
        hearer.lastId = id;
        for (const listener of this.#onEvent) listener(event);
      },
      onReset: (id) => {
        hearer.lastId = id;
        for (const listener of this.#onReset) listener();
      },
      onState: (state) => this.#become(state),
    };
    return hearer;
  }

  #become(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#onState) listener();
  }
}
