import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Database } from "../../db/postgres/database.ts";
import { findUsedToken, saveTokenUse } from "../../db/scim-tokens.ts";
import { scopes } from "../../domain/scope.ts";
import { clientAddress } from "../http/address.ts";
import { unauthorized, type Identity } from "../http/identity.ts";
import { SecretGuesses } from "./secret-guesses.ts";

// How far the time of the last use may lag behind. Otherwise every read would be a write.
const useSpacingMs = 60 * 1000;
const knownMax = 1_000;

const tokenPattern = /^bearer +scim_([0-9a-f]{32})_([A-Za-z0-9_-]{43}) *$/i;

// Names its tenant, so that only that tenant's tokens are searched. A fast hash is enough, because nobody can guess 256 bits.
export function newScimToken(tenantId: string): { text: string; hash: Buffer } {
  const text = `scim_${tenantId.replaceAll("-", "")}_${randomBytes(32).toString("base64url")}`;
  return { text, hash: hash("sha256", text, "buffer") };
}

function parseToken(authorization: string): { text: string; tenantId: string; hash: Buffer } | null {
  const [, tenant = "", secret] = tokenPattern.exec(authorization) ?? [];
  if (secret === undefined) return null;
  const text = `scim_${tenant.toLowerCase()}_${secret}`;
  const tenantId = tenant.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { text, tenantId, hash: hash("sha256", text, "buffer") };
}

type Options = { database: Database; trustedProxies: BlockList; now: () => string };

// Directories keep one token for years, unlike our clients. The database is asked every time, so a token that was revoked is
// refused everywhere at once.
export class ScimTokens {
  readonly #options: Options;
  readonly #guesses = new SecretGuesses("scim tokens");
  // Hashes of tokens that were right, so that a directory never waits because of somebody who guesses at the same address.
  readonly #known = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  // Returns null if the request has no SCIM token, so that it may have another.
  identify(authorization: string[], request: IncomingMessage): Promise<Identity> | null {
    const [sent = ""] = authorization;
    const token = authorization.length === 1 ? parseToken(sent) : null;
    return token && this.#identify(token, request);
  }

  async #identify(token: { tenantId: string; hash: Buffer }, request: IncomingMessage): Promise<Identity> {
    const print = token.hash.toString("base64");
    const found: { identity: Identity | null } = { identity: null };
    const check = async () => {
      found.identity = await this.#find(token);
      return found.identity !== null;
    };
    const address = clientAddress(request, this.#options.trustedProxies) ?? "";
    const isRight = this.#known.has(print) ? await check() : await this.#guesses.limit({ clientId: "scim", address }, check);
    if (!isRight) this.#known.delete(print);
    if (!found.identity) throw unauthorized("The SCIM token is not valid, or has been revoked.");
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.add(print);
    return found.identity;
  }

  async #find({ tenantId, hash: token_hash }: { tenantId: string; hash: Buffer }): Promise<Identity | null> {
    const { database, now } = this.#options;
    const used = await findUsedToken(database, tenantId, token_hash);
    if (!used) return null;
    const at = now();
    if (used.last_used_at === null || Date.parse(at) - Date.parse(used.last_used_at) > useSpacingMs)
      await database.transaction((tx) => saveTokenUse(tx, tenantId, { token_hash, now: at }));
    return {
      tenant: { tenant_id: used.tenant_id, slug: used.slug },
      actor: `scim:${used.name}`,
      scopes: new Set(used.reach ?? scopes),
      expiresAtMs: Number.MAX_SAFE_INTEGER,
      clientId: null,
      scim: { adoptsPeople: used.adopts_people },
    };
  }
}
