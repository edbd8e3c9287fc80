import { countedMax } from "../domain/history.ts";

const shownEveryMs = { terminal: 200, elsewhere: 5_000 };

// Writes to standard error: on a terminal one line that is overwritten, elsewhere a new line every few seconds.
export class Progress {
  readonly #out: NodeJS.WriteStream;
  readonly #everyMs: number;
  #shownAt = Date.now();
  #isShown = false;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
    this.#everyMs = out.isTTY ? shownEveryMs.terminal : shownEveryMs.elsewhere;
  }

  show(line: () => string): void {
    if (Date.now() - this.#shownAt < this.#everyMs) return;
    this.#shownAt = Date.now();
    this.#isShown = true;
    this.#out.write(this.#out.isTTY ? `\r\u001b[K${line()}` : `${line()}\n`);
  }

  clear(): void {
    if (this.#isShown && this.#out.isTTY) this.#out.write("\r\u001b[K");
  }
}

// `lines` is null if their number is not known.
export type ImportStep = { what: string; share: number; lines: number | null; beganMs: number };

const count = (number: number) => `${Math.round(number).toLocaleString("en")} lines`;

// The rate and the time left are computed from the time since the step began.
export function importLine({ what, share, lines, beganMs }: ImportStep, nowMs = Date.now()): string {
  const seconds = Math.max((nowMs - beganMs) / 1_000, 0.001);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const done = lines === null ? [] : [count(lines), `${count(lines / seconds)}/s`];
  const left = share > 0 ? [`${leftText((seconds * (1 - share)) / share)} left`] : [];
  return [`${what} ${percent}`, ...done, ...left].join("  ");
}

// How much was waiting at the beginning and from when on, and the time of the last activity.
export type Waiting = { all: number; from: string | undefined; until: string | undefined };

// Returns how much of the waiting history has been scored. If there was more than the service counts, the share is that of the
// time, because history is scored in order of time.
export function scoredOf(
  { all, from, until }: Waiting,
  now: { waiting: number; oldest_at?: string | undefined },
): Pick<ImportStep, "share" | "lines"> {
  const lines = Math.max(all - now.waiting, 0);
  if (all < countedMax) return { share: lines / Math.max(all, 1), lines };
  if (from === undefined || until === undefined || now.oldest_at === undefined) return { share: 0, lines: null };
  const passed = Date.parse(now.oldest_at) - Date.parse(from);
  return { share: Math.min(Math.max(passed / Math.max(Date.parse(until) - Date.parse(from), 1), 0), 1), lines: null };
}

function leftText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3_600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
