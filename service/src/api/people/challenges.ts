import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Cookies } from "../http/cookies.ts";

// What an authenticator must sign, and when that stops being accepted.
export type Challenge = { text: string; expiresAtMs: number };

const challengeBytes = 32;
const lifeSeconds = 5 * 60;
const form = /^([\w-]{43})\.(\d{13})\.([\w-]{43})$/;

// Challenges for passkeys, in a sealed cookie. So only the browser that asked for one can use it, and nothing is stored that a
// stranger could fill a table with. Each passkey remembers the last challenge that it signed, so an answer works once.
export class Challenges {
  readonly #key: Buffer;
  readonly #cookies: Cookies;

  constructor(key: Buffer, cookies: Cookies) {
    this.#key = key;
    this.#cookies = cookies;
  }

  // `purpose` says what the challenge may be used for.
  issue(purpose: string, now: string): { challenge: Challenge; cookie: string } {
    const text = randomBytes(challengeBytes).toString("base64url");
    const expiresAtMs = Date.parse(now) + lifeSeconds * 1000;
    const value = `${text}.${expiresAtMs}.${this.#seal(purpose, { text, expiresAtMs }).toString("base64url")}`;
    return { challenge: { text, expiresAtMs }, cookie: this.#cookies.write("challenge", value, lifeSeconds) };
  }

  read(request: IncomingMessage, purpose: string, now: string): Challenge | null {
    const [, text = "", expires = "", seal = ""] = form.exec(this.#cookies.read(request, "challenge") ?? "") ?? [];
    const challenge = { text, expiresAtMs: Number(expires) };
    if (text === "" || challenge.expiresAtMs <= Date.parse(now)) return null;
    return timingSafeEqual(Buffer.from(seal, "base64url"), this.#seal(purpose, challenge)) ? challenge : null;
  }

  clear(): string {
    return this.#cookies.clear("challenge");
  }

  #seal(purpose: string, { text, expiresAtMs }: Challenge): Buffer {
    return createHmac("sha256", this.#key).update(`challenge ${purpose} ${text} ${expiresAtMs}`).digest();
  }
}
