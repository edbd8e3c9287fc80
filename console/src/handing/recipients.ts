import { roles, type Role } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { useWorkspace } from "../session/workspace.tsx";

export const roleWords: Record<Role, string> = { investigator: "the investigators", lead: "the leads", admin: "the admins" };

function isRole(recipient: string): recipient is Role {
  return roles.some((role) => role === recipient);
}

// The built-in roles, and the roles of the tenant's own that somebody has.
export function useRecipientRoles(): { role: string; name: string }[] {
  const { data: colleagues = [] } = useQuery(useWorkspace().queries.colleagues());
  const own = colleagues.map(({ role }) => role).filter((role) => !isRole(role));
  return [
    ...roles.map((role) => ({ role, name: roleWords[role].replace(/^the (.)/, (_, first: string) => first.toUpperCase()) })),
    ...[...new Set(own)].toSorted().map((role) => ({ role, name: role })),
  ];
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// The name of a person or a role that a case was handed over to.
export function useRecipientName(): (recipient: string) => string {
  const { queries, session } = useWorkspace();
  const { data: colleagues } = useQuery(queries.colleagues());
  const me = session.user.user_id;
  return useCallback(
    (recipient) => {
      if (recipient === me) return "you";
      if (isRole(recipient)) return roleWords[recipient];
      return (
        colleagues?.find(({ user_id }) => user_id === recipient)?.name ??
        (uuid.test(recipient) ? "a former colleague" : recipient)
      );
    },
    [colleagues, me],
  );
}
