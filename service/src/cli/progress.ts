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
