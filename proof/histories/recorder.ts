import type { Call, Deed, Listing, Sight } from "./history.ts";
import type { Answer } from "./wire.ts";

export type Problem = { type: string; detail: string; current_version?: number };

// The result of one call, as its operation reads it. A fault is a response that the contract does not allow.
export type Reading = { sights: Sight[]; deed?: Deed; listed?: Listing; fault?: string };

// Records every call with its times, in the order of the responses. Only this class reads the clock.
export class Recorder {
  readonly calls: Call[] = [];
  readonly faults: string[] = [];
  readonly outcomes = new Map<string, number>();
  #wanted: number;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get isComplete(): boolean {
    return this.calls.length >= this.#wanted;
  }

  end(): void {
    this.#wanted = 0;
  }

  async call(what: string, send: () => Promise<Answer | null>, read: (answer: Answer | null) => Reading): Promise<Answer | null> {
    const begin = performance.now();
    const answer = await send();
    const end = answer === null ? Infinity : performance.now();
    const { fault, ...reading } = read(answer);
    this.calls.push({ begin, end, what, ...reading });
    if (fault !== undefined) this.faults.push(`${fault}: ${what} returned ${answer?.status} ${answer?.text.slice(0, 300)}`);
    const outcome = `${what.split(" ", 1)[0]} ${outcomeOf(answer, reading.deed)}`;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    return answer;
  }
}

export function problemOf({ text }: Answer): Problem {
  return JSON.parse(text) as Problem;
}

function outcomeOf(answer: Answer | null, deed?: Deed): string {
  if (answer === null) return "unknown";
  if (answer.isReplay) return "replayed";
  if (answer.status >= 400) return `${answer.status} ${problemOf(answer).type}`;
  return deed?.kind === "case" && deed.made.length === 0 ? "unchanged" : "done";
}
