import type { SignInIssuer } from "@casehound/client";

// What the dialog edits. Texts are as typed.
export type IssuerDraft = Pick<
  SignInIssuer,
  "issuer_key" | "name" | "issuer" | "client_id" | "trusts_emails" | "groups_claim" | "without_group" | "default_role"
> & { client_secret: string; extra_scopes: string; role_groups: { id: number; group: string; role: string }[] };

const empty: IssuerDraft = {
  issuer_key: "",
  name: "",
  issuer: "",
  client_id: "",
  client_secret: "",
  extra_scopes: "",
  trusts_emails: false,
  groups_claim: "groups",
  role_groups: [],
  without_group: "refuse",
  default_role: "investigator",
};

export function draftOf(issuer: SignInIssuer | null): IssuerDraft {
  if (!issuer) return empty;
  const role_groups = issuer.role_groups.map((each, id) => ({ id, ...each }));
  return { ...issuer, client_secret: "", extra_scopes: issuer.extra_scopes.join(" "), role_groups };
}

// The members that can change. An empty secret stays as it is.
export function changeOf(draft: IssuerDraft) {
  const { name, client_id, client_secret, extra_scopes, trusts_emails, groups_claim, without_group, default_role } = draft;
  return {
    name: name.trim(),
    client_id: client_id.trim(),
    ...(client_secret !== "" && { client_secret }),
    extra_scopes: extra_scopes.split(/\s+/).filter((scope) => scope !== ""),
    trusts_emails,
    groups_claim: groups_claim.trim(),
    role_groups: draft.role_groups.map(({ group, role }) => ({ group: group.trim(), role })),
    without_group,
    default_role,
  };
}

export function newIssuerOf(draft: IssuerDraft) {
  const own = { issuer_key: draft.issuer_key.trim(), issuer: draft.issuer.trim(), client_secret: draft.client_secret };
  return { ...changeOf(draft), ...own };
}
