import { Type, type Static } from "typebox";
import { Failure } from "./failure.ts";
import { Time } from "./field.ts";
import { isScope, scopes, type Scope } from "./scope.ts";

// The built-in roles. Each of them may do everything that the one before it may.
export const roles = ["investigator", "lead", "admin"] as const;
export type Role = (typeof roles)[number];

const investigator: Scope[] = [
  "read:cases",
  "read:case",
  "update:case",
  "update:views",
  "read:enduseraccounts",
  "read:enduseraccount",
  "update:enduseraccount",
  "read:decisions",
  "read:metrics",
  "read:labels",
  "read:rules",
  "read:lists",
  "update:lists",
  "read:models",
  "read:events",
  "read:tenant",
  "read:snippet",
];

const lead: Scope[] = [
  ...investigator,
  "manage:rules",
  "manage:lists",
  "manage:models",
  "create:labels",
  "create:enduseraccount",
  "read:users",
  "read:figures",
];

export const roleScopes: Record<Role, readonly Scope[]> = { investigator, lead, admin: scopes };

export const builtInWords: Record<Role, string> = {
  investigator: "Works on cases and accounts, and can view rules and the overview",
  lead: "Also changes rules, and sees the list of people and figures about the team",
  admin: "Everything",
};

// Roles that a tenant makes itself.
export const rolesMax = 50;

export const RoleName = Type.String({
  minLength: 2,
  maxLength: 40,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  description: "`investigator`, `lead`, `admin`, or a role of the tenant's own.",
  examples: ["investigator"],
});

const Description = Type.String({ maxLength: 200, pattern: "^[^\\p{Cc}]*$" });
const Scopes = Type.Array(Type.Enum([...scopes]), {
  minItems: 1,
  maxItems: scopes.length,
  description: "The caller must have each of these scopes.",
});

export const TenantRole = Type.Object(
  {
    role: RoleName,
    description: Type.String(),
    scopes: Type.Array(Type.String()),
    is_built_in: Type.Boolean(),
    created_at: Type.Optional(Time),
    updated_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "TenantRole" },
);
export type TenantRole = Static<typeof TenantRole>;

export const NewTenantRole = Type.Object(
  { role: RoleName, description: Type.Optional(Description), scopes: Scopes },
  { additionalProperties: false, $id: "NewTenantRole" },
);
export type NewTenantRole = Static<typeof NewTenantRole>;

export const TenantRoleChange = Type.Object(
  { description: Type.Optional(Description), scopes: Type.Optional(Scopes) },
  { additionalProperties: false, $id: "TenantRoleChange" },
);
export type TenantRoleChange = Static<typeof TenantRoleChange>;

// `own` are the scopes of the tenant's role, or null if there is none. A role that is not known grants nothing.
export function scopesOfRole(role: string, own: readonly string[] | null): readonly string[] {
  return isRole(role) ? roleScopes[role] : (own ?? []).filter((scope) => isScope(scope));
}

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

// Nobody can grant a scope that they do not have, or take over a client or person that has it. A new secret or link gives access
// to all scopes of its client or person.
export function requireReach({ scopes: own }: { scopes: ReadonlySet<string> }, wanted: readonly string[]): void {
  const lacking = wanted.find((scope) => !own.has(scope));
  if (lacking !== undefined) throw new Failure("access-denied", `This requires the scope ${lacking}, which the caller lacks.`);
}
