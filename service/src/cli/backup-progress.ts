const shownEveryMs = { terminal: 200, elsewhere: 5_000 };

export type Step = { what: string; share: number; table?: string; rows?: number; bytes?: number };

// On standard error: a line that is written over on a terminal, elsewhere a line every few seconds.
export class Progress {
  readonly #out: NodeJS.WriteStream;
  readonly #everyMs: number;
  #shownAt = Date.now();
  #isShown = false;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
    this.#everyMs = out.isTTY ? shownEveryMs.terminal : shownEveryMs.elsewhere;
  }

  show(step: Step): void {
    if (Date.now() - this.#shownAt < this.#everyMs) return;
    this.#shownAt = Date.now();
    this.#isShown = true;
    this.#out.write(this.#out.isTTY ? `\r\u001b[K${progressLine(step)}` : `${progressLine(step)}\n`);
  }

  clear(): void {
    if (this.#isShown && this.#out.isTTY) this.#out.write("\r\u001b[K");
  }
}

export function progressLine({ what, share, table, rows, bytes }: Step): string {
  const percent = `${Math.floor(share * 100)}%`;
  const figures = [rows !== undefined && `${rows.toLocaleString("en")} rows`, bytes !== undefined && megabytes(bytes), table];
  return [`${what} ${percent.padStart(4)}`, ...figures.filter(Boolean)].join("  ");
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
