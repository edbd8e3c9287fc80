import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { scopes } from "./scope.ts";

export const clientsMax = 100;

const ScopeName = Type.Enum([...scopes]);

export const ApiClient = Type.Object(
  {
    client_id: Type.String(),
    scopes: Type.Array(Type.String()),
    is_primary: Type.Boolean({ description: "Made with the tenant." }),
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
      description: "None that the caller does not have.",
    }),
  },
  { additionalProperties: false, $id: "NewApiClient" },
);
export type NewApiClient = Static<typeof NewApiClient>;

export const MadeClient = Type.Object(
  {
    client: ApiClient,
    client_secret: Type.String({ description: "Shown this once: only a hash is kept." }),
  },
  { additionalProperties: false, $id: "MadeClient" },
);
