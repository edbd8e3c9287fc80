import { Type, type Static } from "typebox";
import { Failure } from "./failure.ts";
import { Time } from "./field.ts";
import { scopes } from "./scope.ts";
import { previousSecretMs } from "./tenant.ts";

export const clientsMax = 100;

const ScopeName = Type.Enum([...scopes]);

export const ApiClient = Type.Object(
  {
    client_id: Type.String(),
    scopes: Type.Array(Type.String()),
    is_primary: Type.Boolean({ description: "Whether this is the client that was created with the tenant." }),
    created_at: Time,
    previous_secret_expires_at: Type.Optional(Time),
    revoked_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "ApiClient" },
);
export type ApiClient = Static<typeof ApiClient>;

export const NewApiClient = Type.Object(
  {
    scopes: Type.Array(ScopeName, {
      minItems: 1,
      maxItems: scopes.length,
      description: "The caller must have each of these scopes.",
    }),
  },
  { additionalProperties: false, $id: "NewApiClient" },
);
export type NewApiClient = Static<typeof NewApiClient>;

export const MadeClient = Type.Object(
  {
    client: ApiClient,
    client_secret: Type.String({ description: "Shown only once. The service stores only a hash." }),
  },
  { additionalProperties: false, $id: "MadeClient" },
);

// An earlier secret. It works until `until`, as the response to its rotation promised.
export type PreviousSecret = { secret_hash: string; until: string };
export type ClientSecrets = { secret_hash: string; previous_secrets: PreviousSecret[]; token_generation: number };

const previousSecretsMax = 5;

type Rotation = { secret_hash: string; revokeNow: boolean; now: string };

// Returns the client's secrets after a rotation. An earlier secret keeps the 24 hours that it was promised, unless all are
// revoked now.
export function rotateSecrets(before: ClientSecrets, { secret_hash, revokeNow, now }: Rotation): ClientSecrets {
  if (revokeNow) return { secret_hash, previous_secrets: [], token_generation: before.token_generation + 1 };
  const kept = before.previous_secrets.filter(({ until }) => until > now);
  const [oldest] = kept;
  if (oldest && kept.length >= previousSecretsMax) throw tooManySecrets(Date.parse(oldest.until) - Date.parse(now));
  const until = new Date(Date.parse(now) + previousSecretMs).toISOString();
  return { ...before, secret_hash, previous_secrets: [...kept, { secret_hash: before.secret_hash, until }] };
}

function tooManySecrets(waitMs: number): Failure {
  const detail = `${previousSecretsMax} earlier secrets still work. Wait until the oldest one ends, or revoke them all with revoke_now.`;
  return new Failure("rate-limited", detail, { headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) } });
}
