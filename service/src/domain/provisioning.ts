import { Type, type Static } from "typebox";
import { Time, Uuid } from "./field.ts";
import { RoleName } from "./role.ts";
import { RoleGroups, roleOfGroups } from "./sign-in-issuer.ts";

// Two, so that one can be replaced without an interruption.
export const scimTokensMax = 2;

const TokenName = Type.String({
  minLength: 2,
  maxLength: 40,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  description: "The audit trail shows changes made with the token as `scim:` and this name.",
  examples: ["entra"],
});

const AdoptsPeople = Type.Boolean({
  description:
    "Whether the directory may also see and take over people whom it did not create. If not, creating a person whose e-mail address is taken is a conflict.",
});

export const ScimToken = Type.Object(
  {
    scim_token_id: Uuid,
    name: TokenName,
    adopts_people: AdoptsPeople,
    created_by: Type.String(),
    created_at: Time,
    last_used_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "ScimToken" },
);
export type ScimToken = Static<typeof ScimToken>;

export const NewScimToken = Type.Object(
  { name: TokenName, adopts_people: Type.Optional(AdoptsPeople) },
  { additionalProperties: false, $id: "NewScimToken" },
);
export type NewScimToken = Static<typeof NewScimToken>;

export const MadeScimToken = Type.Object(
  {
    scim_token: ScimToken,
    token: Type.String({ description: "Shown only once. The service stores only a hash." }),
  },
  { additionalProperties: false, $id: "MadeScimToken" },
);

const DefaultRole = Type.String({ ...RoleName, description: "For new people, and for people in none of the groups." });

export const Provisioning = Type.Object(
  {
    base_url: Type.String({ description: "The base URL to enter in the directory." }),
    role_groups: RoleGroups,
    default_role: Type.String(),
    groups: Type.Array(
      Type.Object({ display_name: Type.String(), members: Type.Integer({ minimum: 0 }) }, { additionalProperties: false }),
      { description: "The groups that the directory has sent, with the number of their members." },
    ),
  },
  { additionalProperties: false, $id: "Provisioning" },
);
export type Provisioning = Static<typeof Provisioning>;

export const ProvisioningChange = Type.Object(
  { role_groups: Type.Optional(RoleGroups), default_role: Type.Optional(DefaultRole) },
  { additionalProperties: false, $id: "ProvisioningChange" },
);
export type ProvisioningChange = Static<typeof ProvisioningChange>;

export type GroupRoles = Pick<Provisioning, "role_groups" | "default_role">;
export const initialGroupRoles: GroupRoles = { role_groups: [], default_role: "investigator" };

// The role of a provisioned person in these groups. Undefined if groups decide nothing, so that the person keeps the present role.
export function roleInGroups(settings: GroupRoles, groups: readonly string[]): string | undefined {
  return roleOfGroups({ ...settings, without_group: "default_role" }, groups) ?? undefined;
}

export function scimBaseUrl(publicUrl: string, slug: string): string {
  return `${publicUrl}/v2/${slug}/scim/v2`;
}
