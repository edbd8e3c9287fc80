import { Semaphore } from "../../concurrency/semaphore.ts";
import { findSignInIssuer, listOfferedIssuers, type SecretIssuer } from "../../db/sign-in-issuers.ts";
import { Failure } from "../../domain/failure.ts";
import { redirectUriOf } from "../../domain/sign-in-issuer.ts";
import { slugFault } from "../../domain/slug.ts";
import { fetchWithin } from "../../webhook/fetch.ts";
import { OtherIssuer } from "./other-issuer.ts";
import type { People } from "./people.ts";

const keptMax = 200;
const keptMs = 60 * 60 * 1000;
const keyPattern = /^[a-z0-9-]{2,40}$/;

type Kept = { settings: string; issuer: OtherIssuer; sinceMs: number };
export type Offered = { tenant: string; issuer_key: string; name: string };

// The issuers that tenants have set up. Their settings are read with every request, so a change takes effect at once. Only what an
// issuer's own documents say is kept, for an hour.
export class TenantIssuers {
  readonly #people: People;
  readonly #kept = new Map<string, Kept>();
  // Each sign-in makes requests to an address that a tenant has chosen, before anybody has shown who they are.
  readonly #turns = new Semaphore({ atOnceMax: 100, atOnceOfOneMax: 20, waitingMax: 0, waitingOfOneMax: 0, refusal: tooMany });

  constructor(people: People) {
    this.#people = people;
  }

  async run<T>(tenant: string, key: string, work: (issuer: OtherIssuer) => Promise<T>): Promise<T> {
    const isPossible = slugFault(tenant) === null && keyPattern.test(key);
    const row = isPossible ? await findSignInIssuer(this.#people.database, { slug: tenant, issuer_key: key }) : undefined;
    if (!row) throw new Failure("item-not-found", "There is no such issuer.");
    return this.#turns.run(tenant, () => work(this.#issuerOf(row)));
  }

  // The tenant is the one that the page asks for, or the one that the host names, or the only one.
  async list(wanted: string | null, host: string): Promise<Offered[]> {
    const { database } = this.#people;
    if (wanted !== null) return slugFault(wanted) === null ? listOfferedIssuers(database, wanted) : [];
    const [label = ""] = host.toLowerCase().split(/[.:]/);
    const named = slugFault(label) === null ? await listOfferedIssuers(database, label) : [];
    return named.length > 0 ? named : listOfferedIssuers(database, null);
  }

  #issuerOf(row: SecretIssuer): OtherIssuer {
    const { publicUrl, isPrivateAllowed } = this.#people;
    const name = `${row.slug}/${row.issuer_key}`;
    const settings = JSON.stringify(row);
    const kept = this.#kept.get(name);
    if (kept?.settings === settings && performance.now() - kept.sinceMs < keptMs) return kept.issuer;
    const issuer = new OtherIssuer({
      issuer: row.issuer,
      clientId: row.client_id,
      clientSecret: row.client_secret,
      tenant: row.slug,
      chosen: row,
      redirectUri: redirectUriOf(publicUrl, row),
      extraScopes: row.extra_scopes,
      trustsEmails: row.trusts_emails,
      groupsClaim: row.groups_claim,
      mapping: row,
      fetch: fetchWithin({ isPrivateAllowed }),
    });
    this.#kept.delete(name);
    this.#kept.set(name, { settings, issuer, sinceMs: performance.now() });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptMax) break;
      this.#kept.delete(oldest);
    }
    return issuer;
  }
}

function tooMany(): Failure {
  return new Failure("rate-limited", "Too many people are signing in through this issuer at once. Retry after a short delay.", {
    headers: { "retry-after": "1" },
  });
}
