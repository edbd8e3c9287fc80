import type { Proof } from "../part.ts";
import { faultOfAnswer, type Answer } from "./answer.ts";

const shownMax = 25;

// Counts what was sent and received, and records violations.
export class Ledger {
  readonly violations: string[] = [];
  readonly #progress: Proof["progress"];
  readonly #total: number;
  readonly #requests = new Map<string, number>();
  readonly #statuses = new Map<number, number>();
  readonly #figures = new Map<string, number>();
  #sent = 0;
  #faults = 0;
  #notJson = 0;

  constructor(progress: Proof["progress"], total: number) {
    this.#progress = progress;
    this.#total = total;
  }

  // Counts a request and checks its response against the general rules. Returns false if that is already a violation.
  judge(kind: string, request: Buffer, answer: Answer | null, options: { isHead?: boolean; mayBePage?: boolean } = {}): boolean {
    this.count(kind);
    if (!answer) {
      this.violate(kind, "no response", request);
      return false;
    }
    this.note(answer);
    const fault = faultOfAnswer(answer, options);
    if (fault === null) return true;
    if (answer.status < 500) this.#notJson++;
    this.violate(kind, `${fault}: ${answer.text.slice(0, 300)}`, request);
    return false;
  }

  count(kind: string): void {
    this.#requests.set(kind, (this.#requests.get(kind) ?? 0) + 1);
    this.#progress(++this.#sent, this.#total, "requests");
  }

  note({ status }: Answer): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status >= 500) this.#faults++;
  }

  add(figure: string, count: number): void {
    this.#figures.set(figure, (this.#figures.get(figure) ?? 0) + count);
  }

  // Includes the request, so it can be sent again.
  violate(kind: string, what: string, request?: Buffer): void {
    if (this.violations.length < shownMax)
      this.violations.push(`${kind}: ${what}${request ? ` | request ${shown(request)}` : ""}`);
  }

  get sent(): number {
    return this.#sent;
  }

  figures(): Record<string, string | number> {
    const byStatus = [...this.#statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    return {
      requests: this.#sent,
      ...Object.fromEntries([...this.#requests].map(([kind, count]) => [`requests, ${kind}`, count])),
      ...Object.fromEntries(this.#figures),
      "responses by status": byStatus.join(", "),
      "responses with 5xx": this.#faults,
      "responses that are not JSON": this.#notJson,
    };
  }
}

function shown(request: Buffer): string {
  const text = request.toString("latin1");
  const isPlain = /^[\t\r\n\x20-\x7e]*$/.test(text) && text.length < 2_000;
  return isPlain
    ? JSON.stringify(text.replace(/Bearer \S+/g, "Bearer ..."))
    : `base64 ${request.subarray(0, 6_000).toString("base64")}`;
}
