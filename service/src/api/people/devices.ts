import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Cookies } from "../http/cookies.ts";

// A browser, and the tenants in which it has signed in to the account before.
export type KnownDevice = { id: string; slugs: string[] };

type Account = { tenant_id: string; user_id: string; password_hash: string | null };

const sealBytes = 16;
// Enough for several people who share a computer.
const sealsMax = 8;
const maxAgeSeconds = 365 * 24 * 60 * 60;
const form = /^[\w-]{22}(\.[\w-]{22}){1,8}$/;

// Recognizes browsers that have signed in to an account before. A cookie holds the browser's id and a seal for each account. It
// grants no access: it only separates the browser's wrong passwords from those of strangers. The seal covers the password's hash,
// so it becomes invalid when the password changes. The service stores nothing.
export class Devices {
  readonly #key: Buffer;
  readonly #cookies: Cookies;

  constructor(key: Buffer, cookies: Cookies) {
    this.#key = key;
    this.#cookies = cookies;
  }

  find(request: IncomingMessage, accounts: (Account & { slug: string })[]): KnownDevice | null {
    const { id, seals } = this.#read(request);
    const known = accounts.filter((account) => account.password_hash !== null && seals.includes(this.#seal(id, account)));
    return known.length === 0 ? null : { id, slugs: known.map(({ slug }) => slug) };
  }

  // The cookie for a browser that has just signed in.
  remember(request: IncomingMessage, account: Account): string {
    const { id, seals } = this.#read(request);
    const seal = this.#seal(id, account);
    const kept = seals.filter((each) => each !== seal).slice(1 - sealsMax);
    return this.#cookies.write("device", [id, ...kept, seal].join("."), maxAgeSeconds);
  }

  // A keyed hash of an address from which the account's owner has signed in. Like a browser's seal, it becomes invalid when the
  // password changes.
  sealAddress(address: string, account: Account): Buffer {
    return this.#sealOf(`address ${address}`, account);
  }

  #read(request: IncomingMessage): { id: string; seals: string[] } {
    const text = this.#cookies.read(request, "device") ?? "";
    const [id = "", ...seals] = form.test(text) ? text.split(".") : [randomBytes(sealBytes).toString("base64url")];
    return { id, seals };
  }

  #seal(id: string, account: Account): string {
    return this.#sealOf(id, account).toString("base64url");
  }

  #sealOf(what: string, { tenant_id, user_id, password_hash }: Account): Buffer {
    const sealed = createHmac("sha256", this.#key).update(`${what} ${tenant_id} ${user_id} ${password_hash}`).digest();
    return sealed.subarray(0, sealBytes);
  }
}
