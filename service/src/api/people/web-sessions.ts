import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Database, Queryable } from "../../db/postgres/database.ts";
import { saveSignIn } from "../../db/users.ts";
import { deleteWebSession, findWebSession, insertWebSession, saveSeen, type WebSession } from "../../db/web-sessions.ts";
import { Failure } from "../../domain/failure.ts";
import { scopesOfRole } from "../../domain/role.ts";
import { actorOf, sessionLimits, type Person } from "../../domain/user.ts";
import { unauthorized, type Identity } from "../http/identity.ts";
import { Cookies } from "../http/cookies.ts";
import { headerLines } from "../http/headers.ts";
import { csrfOf, newWebToken, parseWebToken } from "./web-token.ts";

// How far a session's recorded last use may lag behind. Otherwise every read would be a write.
const seenSpacingMs = 60 * 1000;

export type OpenSession = WebSession & { token_hash: Buffer; csrf_token: string };
export type OpenedSession = WebSession & { cookie: string; csrf_token: string };

type WebSessionOptions = { database: Database; publicUrl: string; now: () => string };

// People's sessions: a cookie and, for every request that may change something, a token that only our own pages can know.
export class Sessions {
  readonly #options: WebSessionOptions;
  readonly #own: URL;
  readonly cookies: Cookies;

  constructor(options: WebSessionOptions) {
    this.#options = options;
    this.#own = new URL(options.publicUrl);
    this.cookies = new Cookies(options.publicUrl);
  }

  hasCookie(request: IncomingMessage): boolean {
    return this.cookies.read(request, "session") !== undefined;
  }

  // Identifies the caller by the cookie. The database is asked every time, so a session that was ended is ended everywhere at
  // once.
  async identify(request: IncomingMessage): Promise<Identity> {
    const session = await this.require(request);
    if (session.must_add_second_factor) throw missingFactor();
    return {
      tenant: { tenant_id: session.tenant_id, slug: session.slug },
      actor: actorOf(session),
      scopes: new Set(scopesOfRole(session.role, session.role_scopes)),
      expiresAtMs: Date.parse(session.expires_at),
      clientId: null,
      person: { user_id: session.user_id, role: session.role },
    };
  }

  async require(request: IncomingMessage): Promise<OpenSession> {
    const session = await this.find(request);
    if (!session) throw noSession();
    const isSafe = request.method === "GET" || request.method === "HEAD";
    if (!isSafe) this.#requireOwnPage(request, session);
    return session;
  }

  async find(request: IncomingMessage): Promise<OpenSession | null> {
    const { database, now } = this.#options;
    const text = this.cookies.read(request, "session") ?? "";
    const token = parseWebToken(text);
    if (!token) return null;
    const at = now();
    const seen = { token_hash: token.hash, now: at };
    const session = await findWebSession(database, token.tenantId, { ...seen, idle_since: idleSince(at) });
    if (!session) return null;
    if (Date.parse(at) - Date.parse(session.seen_at) > seenSpacingMs) {
      await database.transaction((tx) => saveSeen(tx, token.tenantId, seen));
    }
    return { ...session, token_hash: token.hash, csrf_token: csrfOf(text) };
  }

  // Must run inside the transaction that has locked the person and verified that the checks still hold.
  async open(
    tx: Queryable,
    { tenant_id, user_id }: Pick<Person, "tenant_id" | "user_id">,
    { hasSecondFactor }: { hasSecondFactor: boolean },
  ): Promise<OpenedSession> {
    const now = this.#options.now();
    const token = newWebToken(tenant_id);
    const expires_at = new Date(Date.parse(now) + sessionLimits.wholeMs).toISOString();
    const session = { token_hash: token.hash, user_id, created_at: now, expires_at, has_second_factor: hasSecondFactor };
    await insertWebSession(tx, tenant_id, session, sessionLimits.perUserMax);
    await saveSignIn(tx, tenant_id, { user_id, now });
    // Read as every request reads it, so that it has the person's current role and the tenant's rules.
    const opened = await findWebSession(tx, tenant_id, { token_hash: token.hash, now, idle_since: idleSince(now) });
    if (!opened) throw new Error("a session that was just opened is missing");
    const cookie = this.cookies.write("session", token.text, sessionLimits.wholeMs / 1000);
    return { cookie, csrf_token: csrfOf(token.text), ...opened };
  }

  // Ends the session that the browser had before it signed in again.
  async drop(request: IncomingMessage): Promise<void> {
    const token = parseWebToken(this.cookies.read(request, "session") ?? "");
    if (token) await this.#options.database.transaction((tx) => deleteWebSession(tx, token.tenantId, token.hash));
  }

  // Browsers send the origin of the page. Our pages have the origin of the public URL, or the host that the request names,
  // because the service may have more than one name.
  requireOwnOrigin(request: IncomingMessage): void {
    for (const origin of headerLines(request, "origin")) {
      const page = URL.parse(origin);
      const isAsked = page?.protocol === this.#own.protocol && page.host === request.headers.host?.toLowerCase();
      if (origin !== this.#own.origin && !isAsked) throw foreignPage();
    }
  }

  #requireOwnPage(request: IncomingMessage, { csrf_token }: OpenSession): void {
    this.requireOwnOrigin(request);
    const given = Buffer.from(headerLines(request, "x-csrf-token").join());
    const wanted = Buffer.from(csrf_token);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw missingToken();
  }
}

function idleSince(now: string): string {
  return new Date(Date.parse(now) - sessionLimits.idleMs).toISOString();
}

export function noSession(): Failure {
  return unauthorized("Nobody is signed in, or the session has ended. Sign in again.", false);
}

function missingFactor(): Failure {
  return new Failure("access-denied", "This tenant requires a second factor. Add one in the console to continue.");
}

function foreignPage(): Failure {
  return new Failure("access-denied", "The request was sent by a page of another origin.");
}

function missingToken(): Failure {
  return new Failure("access-denied", "The x-csrf-token header must contain the session's token, which /auth/session returns.");
}
