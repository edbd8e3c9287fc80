import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { RoleName } from "./role.ts";
import { PersonName } from "./user.ts";

export const signInIssuersMax = 10;
const roleGroupsMax = 200;
const extraScopesMax = 10;
const groupCharactersMax = 256;
// More groups than this in one token are an error of the issuer's set-up.
const groupsReadMax = 5_000;

const IssuerKey = Type.String({
  minLength: 2,
  maxLength: 40,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  description: "Part of the redirect URI. It cannot be changed.",
  examples: ["entra"],
});

const Name = Type.String({
  ...PersonName,
  description: "Shown on the sign-in page.",
  examples: ["Microsoft Entra ID"],
});

const IssuerUrl = Type.String({
  maxLength: 500,
  description:
    "The issuer's URL, exactly as in its discovery document. It must be https unless private addresses are allowed. It cannot be changed.",
  examples: ["https://id.example/realms/a"],
});

const printable = "^[\\x20-\\x7e]+$";
const ClientId = Type.String({ minLength: 1, maxLength: 255, pattern: printable, examples: ["casehound"] });
const ClientSecret = Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: printable,
  description: "The issuer's secret for this client. No response contains it.",
  examples: ["the-client-secret"],
});

const ExtraScopes = Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
  maxItems: extraScopesMax,
  description: "Requested in addition to `openid email profile`. Okta sends groups only if `groups` is requested.",
});

const TrustsEmails = Type.Boolean({
  description:
    "Whether an e-mail address counts as verified if the issuer does not send `email_verified`. Microsoft Entra ID does not send it. Set this only for an issuer where nobody can choose their own e-mail address.",
});

const GroupsClaim = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\p{Cc}]+$",
  description: "The claim with the person's groups, a list of strings.",
  examples: ["groups"],
});

export const RoleGroups = Type.Array(
  Type.Object(
    {
      group: Type.String({ minLength: 1, maxLength: groupCharactersMax, pattern: "^[^\\p{Cc}]+$" }),
      role: RoleName,
    },
    { additionalProperties: false },
  ),
  {
    maxItems: roleGroupsMax,
    description:
      "Which role the members of a group get. The first entry that matches decides. If the list is empty, groups are not read, and people keep the role that they have.",
  },
);

const withoutGroup = ["refuse", "default_role"] as const;
const WithoutGroup = Type.Enum([...withoutGroup], {
  description: "What happens to people in none of the groups: they are refused, or get `default_role`.",
});
const DefaultRole = Type.String({ ...RoleName, description: "For people in none of the groups." });

export const SignInIssuer = Type.Object(
  {
    issuer_key: Type.String(),
    name: Type.String(),
    issuer: Type.String(),
    client_id: Type.String(),
    redirect_uri: Type.String({ description: "Register this URI with the issuer." }),
    extra_scopes: Type.Array(Type.String()),
    trusts_emails: TrustsEmails,
    groups_claim: Type.String(),
    role_groups: RoleGroups,
    without_group: WithoutGroup,
    default_role: Type.String(),
    created_at: Time,
    updated_at: Time,
  },
  { additionalProperties: false, $id: "SignInIssuer" },
);
export type SignInIssuer = Static<typeof SignInIssuer>;

const changeable = {
  name: Type.Optional(Name),
  client_id: Type.Optional(ClientId),
  client_secret: Type.Optional(ClientSecret),
  extra_scopes: Type.Optional(ExtraScopes),
  trusts_emails: Type.Optional(TrustsEmails),
  groups_claim: Type.Optional(GroupsClaim),
  role_groups: Type.Optional(RoleGroups),
  without_group: Type.Optional(WithoutGroup),
  default_role: Type.Optional(DefaultRole),
};

export const NewSignInIssuer = Type.Object(
  { ...changeable, issuer_key: IssuerKey, name: Name, issuer: IssuerUrl, client_id: ClientId, client_secret: ClientSecret },
  { additionalProperties: false, $id: "NewSignInIssuer" },
);
export type NewSignInIssuer = Static<typeof NewSignInIssuer>;

export const SignInIssuerChange = Type.Object(changeable, { additionalProperties: false, $id: "SignInIssuerChange" });
export type SignInIssuerChange = Static<typeof SignInIssuerChange>;

export type RoleMapping = Pick<SignInIssuer, "role_groups" | "without_group" | "default_role">;

// The role that the groups give: null if they give none and the person must not sign in, undefined if the role stays as it is.
export function roleOfGroups(mapping: RoleMapping, groups: readonly string[]): string | null | undefined {
  if (mapping.role_groups.length === 0) return undefined;
  const held = new Set(groups);
  const match = mapping.role_groups.find(({ group }) => held.has(group));
  if (match) return match.role;
  return mapping.without_group === "refuse" ? null : mapping.default_role;
}

// Reads a claim of groups. Some issuers send a single group as a string.
export function groupsOf(claim: unknown): string[] {
  const listed: unknown[] = Array.isArray(claim) ? claim : [claim];
  return listed.filter((each): each is string => typeof each === "string").slice(0, groupsReadMax);
}

// Where the issuer returns the browser. Each issuer has a URI of its own, so that an answer of one is never taken for another's.
export function redirectUriOf(publicUrl: string, { slug, issuer_key }: { slug: string; issuer_key: string }): string {
  return `${publicUrl}/auth/oidc/${slug}/${issuer_key}/callback`;
}
