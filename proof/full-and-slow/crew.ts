import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import type { Ledger } from "../writers/ledger.ts";
import { Writer } from "../writers/writer.ts";
import type { Findings } from "../part.ts";
import type { WatchedCaller } from "./watched-caller.ts";

type CrewOptions = { line: WatchedCaller; ledger: Ledger; random: Random; appKey: string };
type Disturbance = { name: string; begin: () => Promise<void>; lastsMs: number; end: () => Promise<void>; mustSee: string[] };

const backMs = 120_000;
const felt = new Set(["500", "502", "503"]);

// Writers that keep working whatever happens to the service.
export class Crew {
  readonly #options: CrewOptions;
  readonly #writers: Writer[];
  #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(size: number, options: CrewOptions) {
    this.#options = options;
    this.#writers = Array.from({ length: size }, (_, index) => {
      const name = `writer-${index}`;
      return new Writer(name, { ...options, random: options.random.fork(name) });
    });
  }

  async begin(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.begin()));
    this.start();
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#running = Promise.all(this.#writers.map((writer) => writer.run(this.#stopping.signal)));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  // Waits until every writer has two outcomes: one for its pending request and one for a new one.
  async allGetOn(): Promise<boolean> {
    const before = this.#writers.map(({ steps }) => steps);
    const deadline = Date.now() + backMs;
    while (!this.#writers.every(({ steps }, index) => steps > (before[index] ?? 0) + 1)) {
      if (Date.now() > deadline) return false;
      await sleep(20);
    }
    return true;
  }

  // Causes a disturbance that makes the service return errors until it ends. Afterwards everything must recover by itself.
  async goThrough({ name, begin, lastsMs, end, mustSee }: Disturbance): Promise<Findings["figures"]> {
    const { line, ledger } = this.#options;
    line.takeAnswers();
    await begin();
    await sleep(lastsMs);
    await end();
    const ended = performance.now();
    if (!(await this.allGetOn())) ledger.violate(`${name}: the writers did not continue within ${backMs / 1000} s of its end`);
    const seconds = (performance.now() - ended) / 1000;
    const { answers, slowestMs } = line.takeAnswers();
    for (const status of mustSee) {
      if (!answers.has(status)) ledger.violate(`${name}: no request got ${status}, so it had no effect`);
    }
    if (answers.has("none")) ledger.violate(`${name}: ${answers.get("none")} requests got no response`);
    return {
      [`${name}: responses`]: tell(answers),
      [`${name}: slowest response, s`]: Number((slowestMs / 1000).toFixed(1)),
      [`${name}: seconds until every writer continued`]: Number(seconds.toFixed(1)),
    };
  }

  // Runs something that others do and that must not affect the writers.
  async goUnharmed(name: string, during: () => Promise<Findings["figures"]>): Promise<Findings["figures"]> {
    const { line, ledger } = this.#options;
    await this.allGetOn();
    line.takeAnswers();
    const figures = await during();
    if (!(await this.allGetOn())) ledger.violate(`${name}: the writers did not continue`);
    const { answers, slowestMs } = line.takeAnswers();
    for (const [status, times] of answers) {
      if (felt.has(status) || status === "none") ledger.violate(`${name}: ${times} of the responses to others were ${status}`);
    }
    return {
      ...figures,
      [`${name}: responses to the others`]: tell(answers),
      [`${name}: their slowest response, s`]: Number((slowestMs / 1000).toFixed(1)),
    };
  }
}

function tell(answers: Map<string, number>): string {
  const sorted = [...answers].toSorted(([one], [other]) => one.localeCompare(other));
  return sorted.map(([status, times]) => `${times.toLocaleString("en")} × ${status}`).join(", ");
}
