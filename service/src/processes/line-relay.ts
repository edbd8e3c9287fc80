import type { LogOutput } from "../log.ts";

type RelayOptions = { output: LogOutput; onStray: ((text: string) => void) | null };

const lineMax = 1024 * 1024;

// Passes on what a worker writes to its log, in whole lines, so that lines of several workers never mix. In a JSON log, lines that
// are not JSON, such as Node's message about a crash, go to `onStray`.
export class LineRelay {
  readonly #options: RelayOptions;
  #rest = "";

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  write(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end === 0) {
      this.#rest += text;
      if (this.#rest.length > lineMax) this.end();
      return;
    }
    this.#pass(this.#rest + text.slice(0, end));
    this.#rest = text.slice(end);
  }

  // A worker that was killed may leave half a line. A line that is too long is passed on in parts.
  end(): void {
    if (this.#rest !== "") this.#pass(`${this.#rest}\n`, true);
    this.#rest = "";
  }

  #pass(lines: string, isCut = false): void {
    const { output, onStray } = this.#options;
    if (!onStray || (!isCut && lines.startsWith("{") && !/\n[^{]/.test(lines))) {
      output.write(lines);
      return;
    }
    for (const line of lines.split("\n").slice(0, -1)) {
      if (!isCut && line.startsWith("{")) output.write(`${line}\n`);
      else if (line !== "") onStray(line);
    }
  }
}
