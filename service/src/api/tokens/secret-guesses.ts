import { hostOf } from "../../domain/address.ts";
import { Limited } from "../http/limited.ts";
import { Quotas } from "../http/rate-limits.ts";

const burst = 10;
const windowSeconds = 60;

// Limits wrong secrets for one client from one address: ten at once, then one every six seconds. The count is per client and
// address, so guessing does not lock the client out elsewhere. Each process counts separately, because a secret is far too long
// for a few more guesses to matter.
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
