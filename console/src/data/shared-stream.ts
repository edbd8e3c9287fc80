import { newKey } from "@casehound/client";
import { OwnStream, type Hearer, type LiveEvent, type LiveState } from "./own-stream.ts";

const askMs = 10_000;

type Said =
  | { kind: "ask" }
  | { kind: "state"; from: string; state: LiveState; lastId: number }
  | { kind: "event"; from: string; id: number; event: LiveEvent }
  | { kind: "reset"; from: string; id: number };

type Shared = {
  // Tabs with the same name share a stream. The name identifies the person and the event types.
  name: string;
  path: string;
  hearer: Hearer;
};

// A page loaded over plain HTTP from another machine has no Web Locks.
export function canShare(): boolean {
  return "locks" in navigator && "BroadcastChannel" in globalThis;
}

// One connection for all tabs of a browser, because a browser allows only six per host. The tab that holds the lock leads: it
// owns the connection and forwards what it receives. When it goes away, for whatever reason, the browser gives the lock to the
// next tab.
export class SharedStream {
  readonly #shared: Shared;
  readonly #channel: BroadcastChannel;
  readonly #own: OwnStream;
  readonly #me = newKey();
  readonly #ending = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #isLeading = false;
  #state: LiveState = "connecting";
  // The leading tab from which this tab receives every event without a gap.
  #leader: string | null = null;
  #isAsking = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(shared: Shared) {
    this.#shared = shared;
    this.#channel = new BroadcastChannel(shared.name);
    this.#own = new OwnStream(shared.path, this.#passingOn());
  }

  open(isAgain: boolean): void {
    // Only this code posts to this channel, and the channel is limited to our origin.
    this.#channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => this.#hear(data as Said));
    this.#queue(isAgain).catch(() => {
      // The browser has locks but refuses this one, so this tab connects by itself.
      if (!this.#ending.signal.aborted) void this.#lead(true);
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#own.close();
    this.#channel.close();
    this.#ending.abort();
    this.#ended.resolve();
  }

  async #queue(isAgain: boolean): Promise<void> {
    const { name } = this.#shared;
    const { signal } = this.#ending;
    await navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? this.#lead(isAgain) : null));
    if (signal.aborted) return;
    this.#ask();
    this.#timer = setInterval(() => this.#ask(), askMs);
    await navigator.locks.request(name, { signal }, () => this.#lead(true));
  }

  // The state is "lost" until the new leader has a connection. Every tab then checks whether its session still exists.
  #lead(isAgain: boolean): Promise<void> {
    if (this.#ending.signal.aborted) return this.#ended.promise;
    clearInterval(this.#timer);
    this.#isLeading = true;
    this.#become(isAgain ? "lost" : "connecting");
    this.#own.open();
    return this.#ended.promise;
  }

  #passingOn(): Hearer {
    const { hearer } = this.#shared;
    const from = this.#me;
    return {
      get lastId() {
        return hearer.lastId;
      },
      onEvent: (id, event) => {
        this.#say({ kind: "event", from, id, event });
        hearer.onEvent(id, event);
      },
      onReset: (id) => {
        this.#say({ kind: "reset", from, id });
        hearer.onReset(id);
      },
      onState: (state) => this.#become(state),
    };
  }

  #become(state: LiveState): void {
    this.#state = state;
    this.#sayState();
    this.#shared.hearer.onState(state);
  }

  #sayState(): void {
    this.#say({ kind: "state", from: this.#me, state: this.#state, lastId: this.#shared.hearer.lastId });
  }

  #say(said: Said): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel has one origin and takes no target.
    this.#channel.postMessage(said);
  }

  // A leader that hangs still holds the lock. A tab that hears nothing from it must not show itself as live.
  #ask(): void {
    if (this.#isAsking) this.#shared.hearer.onState("lost");
    this.#isAsking = true;
    this.#say({ kind: "ask" });
  }

  #hear(said: Said): void {
    const { hearer } = this.#shared;
    if (this.#isLeading) {
      if (said.kind === "ask") this.#sayState();
      return;
    }
    if (said.kind === "ask") return;
    if (said.kind === "state") {
      this.#isAsking = false;
      if (said.state === "live" && said.from !== this.#leader) this.#follow(said.from, said.lastId);
      return hearer.onState(said.state);
    }
    // Events sent before this tab followed the leader are already covered by its starting position.
    if (said.from !== this.#leader) return;
    if (said.kind === "event") hearer.onEvent(said.id, said.event);
    else hearer.onReset(said.id);
  }

  // From here on this tab receives every event. If the leader received events that this tab missed, it reads everything again.
  #follow(leader: string, lastId: number): void {
    const { hearer } = this.#shared;
    this.#leader = leader;
    if (lastId > hearer.lastId) hearer.onReset(lastId);
  }
}
