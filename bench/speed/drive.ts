// The measuring side of the load generator. The generator is a separate process, so its cost can be separated from what it
// measures. It lives through many runs, so it is warm in all of them.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

// A request. The path is appended to the run's address. The default expected status is 200.
export type Shot = { method: string; path: string; body?: string; headers?: Record<string, string>; expect?: number };

export type Drive = {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
  // Requests per second, independent of the responses. Latency counts from the time when a request was due. Without a rate, every
  // connection sends its next request as soon as it has a response.
  rate?: number;
  // Sent one after the other, in a scattered order.
  shots: Shot[];
  // Sends each at most once. The run ends when they are used up, and `seconds` is its duration.
  once?: boolean;
  // Sends a fresh Idempotency-Key with every request.
  key?: boolean;
};

// Latencies in milliseconds, accurate to 1 %. `failed` counts unexpected statuses and missing responses; they are included in
// `requests`.
export type Driven = {
  requests: number;
  seconds: number;
  perSecond: number;
  failed: number;
  p50: number;
  p99: number;
  p999: number;
  // The CPU of the generator itself.
  cpuSeconds: number;
};

// `failure` describes the first unexpected response, so it can be investigated.
export type Answer = { driven: Driven; failure: string | null } | { error: string };

const program = fileURLToPath(new URL("driver.ts", import.meta.url));

export class Driver {
  readonly #child: ChildProcess;
  // The failure of the last run.
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
