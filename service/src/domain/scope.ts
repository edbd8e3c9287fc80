export const scopes = [
  "read:cases",
  "read:case",
  "update:case",
  "read:enduseraccount",
  "update:enduseraccount",
  "read:enduseraccounts",
  "create:enduseraccount",
  "delete:enduseraccount",
  "create:activities",
  "read:metrics",
  "read:snippet",
  "read:tenant",
  "update:tenant",
  "update:tenant_auth_secret",
  "read:events",
  "manage:webhooks",
  "read:rules",
  "manage:rules",
] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
