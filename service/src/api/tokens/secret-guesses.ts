import { hostOf } from "../../domain/address.ts";
import { Limited } from "../http/limited.ts";
import { Quotas } from "../http/rate-limits.ts";

const burst = 10;
const windowSeconds = 60;

// Slows down wrong secrets for one client from one address: ten at once, then one every six seconds. Counted by both, so a guesser
// does not lock the client out elsewhere. Each process counts for itself: a secret is far too long to be guessed by more processes.
export class SecretGuesses {
  readonly #wrong = new Quotas("guesses", burst / windowSeconds, undefined, windowSeconds);

  async limit(guess: { clientId: string; address: string }, check: () => Promise<boolean>): Promise<boolean> {
    const key = `${guess.clientId} ${hostOf(guess.address)}`;
    const nowMs = performance.now();
    if (this.#wrong.isSpent(key, nowMs)) {
      const wait = String(this.#wrong.waitSeconds(key, nowMs));
      throw new Limited("guesses", "Too many wrong secrets were sent for this client. Wait before the next one.", {
        "retry-after": wait,
      });
    }
    const isRight = await check();
    if (!isRight) this.#wrong.take(key, performance.now());
    return isRight;
  }
}
