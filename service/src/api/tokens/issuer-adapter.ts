import type { Adapter, AdapterPayload } from "oidc-provider";
import type { Database } from "../../db/postgres/database.ts";
import { consumeIssuerEntry, deleteIssuerEntry, deleteIssuerGrant, findIssuerEntry, saveIssuerEntry } from "../../db/issuer.ts";
import { findClient, type ClientRow } from "../../db/tenants.ts";
import { clientIdFault, type PreviousSecret } from "../../domain/client.ts";
import { scopes } from "../../domain/scope.ts";
import { nobodysHash } from "./secret.ts";

export type ClientMetadata = {
  clientId: string;
  clientSecret: string;
  scope: string;
  tenant_id: string;
  tenant_slug: string;
  previous_secrets: PreviousSecret[];
  token_generation: number;
};

// The issuer's state in our tables: clients from theirs, everything else as documents with an expiry.
export function issuerAdapter(database: Database): new (model: string) => Adapter {
  return class implements Adapter {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
      const expires = expiresInSeconds ? new Date(Date.now() + expiresInSeconds * 1000).toISOString() : null;
      const { grantId = null, uid = null, userCode = null } = payload;
      const entry = { payload: { ...payload }, grantId, uid, userCode, expires_at: expires };
      await database.transaction((tx) => saveIssuerEntry(tx, { model: this.#model, id }, entry));
    }

    async find(id: string): Promise<AdapterPayload | undefined> {
      return this.#model === "Client" ? findClientMetadata(database, id) : this.#entry({ id });
    }

    async findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return this.#entry({ uid });
    }

    async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return this.#entry({ userCode });
    }

    async consume(id: string): Promise<void> {
      await database.transaction((tx) => consumeIssuerEntry(tx, { model: this.#model, id }));
    }

    async destroy(id: string): Promise<void> {
      await database.transaction((tx) => deleteIssuerEntry(tx, { model: this.#model, id }));
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await database.transaction((tx) => deleteIssuerGrant(tx, grantId));
    }

    async #entry(by: { id?: string; uid?: string; userCode?: string }): Promise<AdapterPayload | undefined> {
      const row = await findIssuerEntry(database, this.#model, by);
      return row && { ...row.payload, ...(row.consumed_at !== null && { consumed: true }) };
    }
  };
}

type Held = Pick<ClientRow, "secret_hash" | "scopes" | "tenant_id" | "slug" | "previous_secrets" | "token_generation">;

// Used for an unknown or revoked client id. No secret matches, and the check takes the same work as for a real client.
function nobody(id: string): Held {
  const secrets = { secret_hash: nobodysHash(id), previous_secrets: [], token_generation: 0 };
  return { ...secrets, scopes: [...scopes], tenant_id: "", slug: "" };
}

async function findClientMetadata(database: Database, id: string): Promise<AdapterPayload | undefined> {
  if (clientIdFault(id) !== null) return undefined;
  const found = await findClient(database, id);
  const client = found && found.revoked_at === null ? found : nobody(id);
  const metadata: AdapterPayload & Record<string, unknown> = {
    client_id: id,
    client_secret: client.secret_hash,
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: "client_secret_basic",
    id_token_signed_response_alg: "ES256",
    scope: client.scopes.join(" "),
    tenant_id: client.tenant_id,
    tenant_slug: client.slug,
    previous_secrets: client.previous_secrets,
    token_generation: client.token_generation,
  };
  return metadata;
}
