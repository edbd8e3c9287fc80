import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isCanonicalUuid } from "../../domain/uuid.ts";
import type { Cookies } from "../http/cookies.ts";

type Account = { tenant_id: string; user_id: string; password_hash: string | null };
export type Ticket = { tenantId: string; userId: string; expiresAtMs: number; seal: Buffer };

const lifeSeconds = 5 * 60;

// A browser that has given the right password and must still give a second factor has a ticket: a cookie that names the person
// until it expires. It grants nothing but the right to try a code. Its seal covers the password's hash, so it becomes invalid when
// the password changes. The service stores nothing.
export class Tickets {
  readonly #key: Buffer;
  readonly #cookies: Cookies;

  constructor(key: Buffer, cookies: Cookies) {
    this.#key = key;
    this.#cookies = cookies;
  }

  issue(account: Account, now: string): string {
    const expiresAtMs = Date.parse(now) + lifeSeconds * 1000;
    const seal = this.#sealOf(account, expiresAtMs).toString("base64url");
    return this.#cookies.write("ticket", [account.tenant_id, account.user_id, expiresAtMs, seal].join("."), lifeSeconds);
  }

  read(request: IncomingMessage, now: string): Ticket | null {
    const [tenantId = "", userId = "", expires = "", seal = "", more] = (this.#cookies.read(request, "ticket") ?? "").split(".");
    const isTicket = isCanonicalUuid(tenantId) && isCanonicalUuid(userId) && /^\d{13}$/.test(expires) && more === undefined;
    const expiresAtMs = Number(expires);
    if (!isTicket || expiresAtMs <= Date.parse(now)) return null;
    return { tenantId, userId, expiresAtMs, seal: Buffer.from(seal, "base64url") };
  }

  // Whether the ticket was issued to this account while it had this password.
  isFor(ticket: Ticket, account: Account): boolean {
    const wanted = this.#sealOf(account, ticket.expiresAtMs);
    return ticket.seal.length === wanted.length && timingSafeEqual(ticket.seal, wanted);
  }

  clear(): string {
    return this.#cookies.clear("ticket");
  }

  #sealOf({ tenant_id, user_id, password_hash }: Account, expiresAtMs: number): Buffer {
    return createHmac("sha256", this.#key).update(`ticket ${tenant_id} ${user_id} ${expiresAtMs} ${password_hash}`).digest();
  }
}
