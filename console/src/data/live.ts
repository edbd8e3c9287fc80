import { OwnStream, streamPath, type GuardedNoun, type Hearer, type LiveEvent, type LiveState } from "./own-stream.ts";
import { SharedStream, canShare } from "./shared-stream.ts";

export type { LiveEvent };

// Everything the tab reads already includes the events up to `lastEventId`.
type Reader = { tenant: string; userId: string; isAllowed: boolean; guarded: GuardedNoun[]; lastEventId: number };

// Live events. All of a person's tabs in one browser share one connection. If the browser cannot share it, each tab opens its
// own.
export class LiveStream {
  readonly #path: string;
  readonly #name: string;
  readonly #onEvent = new Set<(event: LiveEvent) => void>();
  readonly #onReset = new Set<() => void>();
  readonly #onState = new Set<() => void>();
  readonly #hearer: Hearer;
  #state: LiveState;

  constructor({ tenant, userId, isAllowed, guarded, lastEventId }: Reader) {
    this.#path = streamPath(tenant, guarded);
    // Include the whole path, because tabs of an earlier console version may request other event types.
    this.#name = `casehound.live ${userId} ${this.#path}`;
    this.#state = isAllowed ? "connecting" : "not-allowed";
    this.#hearer = this.#hearing(lastEventId);
  }

  // A page in the back-forward cache must not block other tabs. When it is restored, it continues after its last event.
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

  // Called when more events were missed than the service keeps, so anything may have changed.
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
