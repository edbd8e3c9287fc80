import { hostOf, siteOf } from "../../domain/address.ts";
import { Limited } from "../http/limited.ts";
import { Quotas } from "../http/rate-limits.ts";

const burst = 10;
// For all clients together. Many clients may share an address, and some of them may have an outdated secret.
const burstOfAddress = 120;
const windowSeconds = 60;

const quotasOf = (count: number) => new Quotas("guesses", count / windowSeconds, undefined, windowSeconds);

// Limits wrong secrets for one client from one address: ten at once, then one every six seconds. The count is per client and
// address, so guessing does not lock the client out elsewhere. Wrong secrets for all clients from one address are limited too,
// because anybody can invent client ids. The workers of one service count together. Other services on the database count separately,
// because a secret is far too long for a few more guesses to matter.
export class SecretGuesses {
  readonly #wrong: Quotas;
  readonly #wrongOfAddress: Quotas;

  constructor(what: string) {
    this.#wrong = quotasOf(burst).sharedAs(`wrong ${what}`);
    this.#wrongOfAddress = quotasOf(burstOfAddress).sharedAs(`wrong ${what} of an address`);
  }

  async limit(guess: { clientId: string; address: string }, check: () => Promise<boolean>): Promise<boolean> {
    const key = `${guess.clientId} ${hostOf(guess.address)}`;
    const site = siteOf(guess.address);
    requireLeft(this.#wrong, key, "Too many wrong secrets were sent for this client. Wait before the next one.");
    requireLeft(this.#wrongOfAddress, site, "Too many wrong secrets were sent from this address. Wait before the next one.");
    const isRight = await check();
    if (isRight) return true;
    this.#wrong.take(key, performance.now());
    this.#wrongOfAddress.take(site, performance.now());
    return false;
  }
}

function requireLeft(quotas: Quotas, key: string, detail: string): void {
  const nowMs = performance.now();
  if (!quotas.isSpent(key, nowMs)) return;
  throw new Limited("guesses", detail, { "retry-after": String(quotas.waitSeconds(key, nowMs)) });
}
