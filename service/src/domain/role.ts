import { scopes, type Scope } from "./scope.ts";

// What people may do. Each role may do what the one before it may.
export const roles = ["investigator", "lead", "admin"] as const;
export type Role = (typeof roles)[number];

const investigator: Scope[] = [
  "read:cases",
  "read:case",
  "update:case",
  "read:enduseraccounts",
  "read:enduseraccount",
  "update:enduseraccount",
  "read:metrics",
  "read:rules",
  "read:events",
  "read:tenant",
  "read:snippet",
];

const lead: Scope[] = [...investigator, "manage:rules", "create:enduseraccount", "read:users"];

export const roleScopes: Record<Role, readonly Scope[]> = { investigator, lead, admin: scopes };

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}
