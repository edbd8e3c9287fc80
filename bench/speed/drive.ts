// The load generator, from the side of who measures. It is a process of its own, so that what it costs can be told from what it
// measures, and lives over many runs, so that it is warm in all of them.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

// A request. The path goes behind the run's address; the status that is expected is 200 unless told.
export type Shot = { method: string; path: string; body?: string; headers?: Record<string, string>; expect?: number };

export type Drive = {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
  // Requests a second, whatever the answers do: latency counts from the time at which a request should have gone out. Without
  // it every connection asks again as soon as it is answered.
  rate?: number;
  // In turns, in an order that jumps about.
  shots: Shot[];
  // Each at most once: the run ends when they are used up, and `seconds` tells how long it was.
  once?: boolean;
  // A fresh Idempotency-Key with every request.
  key?: boolean;
};

// Latencies in milliseconds, to 1 %. `failed`: another status than expected, or no answer at all; they are among `requests`.
export type Driven = {
  requests: number;
  seconds: number;
  perSecond: number;
  failed: number;
  p50: number;
  p99: number;
  p999: number;
  // Of the generator itself.
  cpuSeconds: number;
};

// The first thing that was not as expected, in words, so that somebody can look for it.
export type Answer = { driven: Driven; failure: string | null } | { error: string };

const program = fileURLToPath(new URL("driver.ts", import.meta.url));

export class Driver {
  readonly #child: ChildProcess;
  // Of the last run.
  failure: string | null = null;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<Driver> {
    const child = fork(program, { execArgv: ["--max-semi-space-size=32"] });
    await once(child, "message");
    return new Driver(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  // One run at a time.
  async run(drive: Drive): Promise<Driven> {
    const ended = new AbortController();
    const answered = once(this.#child, "message", { signal: ended.signal });
    const onExit = () => ended.abort(new Error("the load generator ended"));
    this.#child.once("exit", onExit);
    this.#child.send(drive);
    const [answer] = (await answered.finally(() => this.#child.off("exit", onExit))) as [Answer];
    if ("error" in answer) throw new Error(`the load generator: ${answer.error}`);
    this.failure = answer.failure;
    return answer.driven;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.disconnect();
    await gone;
  }
}
