// What tenants and clients may be called. In a file without schemas, because the configuration and most commands load none.

export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const slugCharacters = { min: 3, max: 100 };
// The path /v2/oauth/token does not belong to a tenant.
const reservedSlugs = new Set(["oauth"]);

// Returns what is wrong with the slug, or null.
export function slugFault(slug: string): string | null {
  if (slug.length < slugCharacters.min || slug.length > slugCharacters.max) return "a tenant slug must have 3 to 100 characters";
  if (!slugPattern.test(slug))
    return "a tenant slug must consist of lower-case letters and digits, with single hyphens between them";
  return reservedSlugs.has(slug) ? `the slug "${slug}" is reserved` : null;
}

export function clientIdFault(clientId: string): string | null {
  const isGood = /^[\x21-\x7e]{1,128}$/.test(clientId) && clientId !== "system" && !clientId.startsWith("scim:");
  return isGood
    ? null
    : 'a client id must have 1 to 128 visible ASCII characters, and must not be "system" or begin with "scim:"';
}
