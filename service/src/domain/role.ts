import { Failure } from "./failure.ts";
import { scopes, type Scope } from "./scope.ts";

// What people may do. Each role may do everything that the one before it may.
export const roles = ["investigator", "lead", "admin"] as const;
export type Role = (typeof roles)[number];

const investigator: Scope[] = [
  "read:cases",
  "read:case",
  "update:case",
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
];

export const roleScopes: Record<Role, readonly Scope[]> = { investigator, lead, admin: scopes };

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

// Nobody can grant a scope that they do not have, or take over a client or person that has it. A new secret or link gives access
// to all scopes of its client or person.
export function requireReach({ scopes: own }: { scopes: ReadonlySet<string> }, wanted: readonly string[]): void {
  const lacking = wanted.find((scope) => !own.has(scope));
  if (lacking !== undefined) throw new Failure("access-denied", `This requires the scope ${lacking}, which the caller lacks.`);
}
