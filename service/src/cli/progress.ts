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

export type ImportStep = { what: string; share: number; lines: number; beganMs: number };

// The rate and the time left are computed from the time since the step began.
export function importLine({ what, share, lines, beganMs }: ImportStep, nowMs = Date.now()): string {
  const seconds = Math.max((nowMs - beganMs) / 1_000, 0.001);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const rate = `${Math.round(lines / seconds).toLocaleString("en")} lines/s`;
  const left = share > 0 ? `${leftText((seconds * (1 - share)) / share)} left` : "";
  return `${what} ${percent}  ${lines.toLocaleString("en")} lines  ${rate}  ${left}`.trimEnd();
}

function leftText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3_600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
