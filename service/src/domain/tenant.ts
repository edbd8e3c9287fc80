import { Type, type Static } from "typebox";
import { Time, Uuid } from "./field.ts";

export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const slugCharacters = { min: 3, max: 100 };
// The path /v2/oauth/token belongs to no tenant.
const reservedSlugs = new Set(["oauth"]);

// Null where the slug will do, else what is wrong with it.
export function slugFault(slug: string): string | null {
  if (slug.length < slugCharacters.min || slug.length > slugCharacters.max) return "a tenant slug has 3 to 100 characters";
  if (!slugPattern.test(slug)) return "a tenant slug is made of lower-case letters, digits and single hyphens between them";
  return reservedSlugs.has(slug) ? `the slug "${slug}" is reserved` : null;
}

export const Tenant = Type.Object(
  {
    tenant_name: Type.String({ description: "The tenant's slug." }),
    tenant_id: Uuid,
    client_id: Type.Optional(Type.String({ description: "The client made with the tenant, whose secret can be rotated." })),
    clickstream_app_id: Type.String(),
    allowed_origins: Type.Array(Type.String()),
    created_at: Time,
  },
  { additionalProperties: false, $id: "Tenant" },
);
export type Tenant = Static<typeof Tenant>;

export const RotatedSecret = Type.Object(
  {
    client_id: Type.String(),
    client_secret: Type.String({ description: "Shown this once: only a hash is kept." }),
    previous_secret_expires_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "RotatedSecret" },
);

export const previousSecretMs = 24 * 60 * 60 * 1000;
