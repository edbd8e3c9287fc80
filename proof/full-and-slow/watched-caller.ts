import { ApiCaller, type Answer, type Request } from "../writers/call.ts";

// Counts responses by status.
export class WatchedCaller extends ApiCaller {
  #answers = new Map<string, number>();
  #slowestMs = 0;

  override call(request: Request): Promise<Answer | null> {
    return this.#watch(super.call(request));
  }

  override collect(...args: Parameters<ApiCaller["collect"]>): Promise<Answer | null> {
    return this.#watch(super.collect(...args));
  }

  // Returns the counts since the last call.
  takeAnswers(): { answers: Map<string, number>; slowestMs: number } {
    const taken = { answers: this.#answers, slowestMs: this.#slowestMs };
    this.#answers = new Map();
    this.#slowestMs = 0;
    return taken;
  }

  async #watch(asked: Promise<Answer | null>): Promise<Answer | null> {
    const began = performance.now();
    const answer = await asked;
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
    const status = answer === null ? "none" : String(answer.status);
    this.#answers.set(status, (this.#answers.get(status) ?? 0) + 1);
    return answer;
  }
}
