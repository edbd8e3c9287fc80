import type { Answer } from "../../service/test/send.ts";
import type { Twin } from "./twin.ts";

// A response without the parts that always differ. The `ids` are replaced by a placeholder.
function bytesOf(answer: Answer, ids: string[] = []): string {
  const headers = [...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  const whole = JSON.stringify([answer.status, headers.filter(([name]) => name !== "content-length"), answer.text]);
  return ids.reduce((text, id) => text.replaceAll(id, "<id>"), whole);
}

// Counts the attempts on a tenant, and records what they revealed about it.
export class Tally {
  readonly #victim: Twin;
  readonly violations: string[] = [];
  readonly statuses = new Map<number, number>();
  attempts = 0;

  constructor(victim: Twin) {
    this.#victim = victim;
  }

  // A response that contains anything of the victim is a violation, whatever its status. Values that were sent may be returned.
  see(what: string, answer: Answer, { wanted, sent = [] }: { wanted?: number; sent?: string[] } = {}): void {
    this.attempts++;
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    if (wanted !== undefined && answer.status !== wanted)
      this.violations.push(`${what}: ${wanted} was promised, but the response was ${answer.status} ${answer.text.slice(0, 300)}`);
    const whole = answer.text + JSON.stringify([...answer.headers]);
    const told = sent.reduce((text, id) => text.replaceAll(id, ""), whole);
    for (const secret of [this.#victim.word, this.#victim.tenantId])
      if (told.includes(secret)) this.violations.push(`${what}: revealed the other tenant: ${told.slice(0, 500)}`);
  }

  seeSame(what: string, pair: [Answer, Answer], ids: string[] = []): void {
    const [one, other] = pair.map((answer) => bytesOf(answer, ids));
    if (one !== other) this.violations.push(`${what}: the responses differ: ${one} and ${other}`);
  }

  fault(what: string): void {
    this.violations.push(what);
  }
}
