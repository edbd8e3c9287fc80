import type { TenantRole } from "@casehound/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ConsoleClient } from "../../data/client.ts";
import { useWorkspace } from "../../session/workspace.tsx";

const builtIn: Record<string, { name: string; may: string }> = {
  investigator: { name: "Investigator", may: "Works on cases and accounts, and can view rules and the overview." },
  lead: { name: "Lead", may: "Also changes rules, and sees the list of people and figures about the team." },
  admin: { name: "Admin", may: "Also invites people, creates credentials, sends activity and erases accounts." },
};

const staleMs = 30_000;

function rolesQuery(client: ConsoleClient) {
  return queryOptions({ queryKey: ["roles"], queryFn: ({ signal }) => client.call("listRoles", { signal }), staleTime: staleMs });
}

export function useRoles(): TenantRole[] {
  return useQuery(rolesQuery(useWorkspace().client)).data?.roles ?? [];
}

// A role of the tenant's own is shown by its name and description.
export function roleName(role: string): string {
  return builtIn[role]?.name ?? role;
}

export function roleMay({ role, description, scopes }: TenantRole): string {
  return builtIn[role]?.may ?? (description || `${scopes.length} ${scopes.length === 1 ? "scope" : "scopes"}.`);
}
