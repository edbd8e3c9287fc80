import type { SignInIssuer } from "@casehound/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleClient } from "../../data/client.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { IssuerEditor } from "./IssuerEditor.tsx";

function issuersQuery(client: ConsoleClient) {
  return queryOptions({ queryKey: ["issuers"], queryFn: ({ signal }) => client.call("listSignInIssuers", { signal }) });
}

type Edited = { issuer: SignInIssuer | null };

// The identity providers through which the tenant's people can sign in.
export function IssuersDialog({ onClose }: { onClose: () => void }) {
  const read = useQuery(issuersQuery(useWorkspace().client));
  const [edited, setEdited] = useState<Edited | null>(null);
  if (edited) return <IssuerEditor issuer={edited.issuer} onClose={() => setEdited(null)} />;
  return (
    <Dialog
      title="Single sign-on"
      onClose={onClose}
      footer={
        <Button look="primary" onClick={() => setEdited({ issuer: null })} data-first-focus="">
          Add an identity provider
        </Button>
      }
    >
      {read.isLoading && <Loading lines={2} name="Loading the identity providers" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data?.issuers.length === 0 && (
        <p className="text-sm text-soft">
          People sign in with a password or a passkey. Add an OpenID Connect provider, such as Microsoft Entra ID, Okta or
          Keycloak, so that they can use their company account.
        </p>
      )}
      <ul className="grid gap-2 text-sm">
        {read.data?.issuers.map((issuer) => (
          <li key={issuer.issuer_key} className="flex items-center gap-3 rounded-lg border border-line p-3">
            <div className="mr-auto min-w-0">
              <p className="truncate font-medium">{issuer.name}</p>
              <p className="truncate text-xs text-soft">{issuer.issuer}</p>
              <p className="text-xs text-soft">{rolesWords(issuer)}</p>
            </div>
            <Button aria-label={`Edit ${issuer.name}`} onClick={() => setEdited({ issuer })}>
              Edit
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function rolesWords({ role_groups, without_group, default_role }: SignInIssuer): string {
  if (role_groups.length === 0) return "Roles are assigned in Casehound.";
  const groups = role_groups.length === 1 ? "One group decides" : `${role_groups.length} groups decide`;
  return `${groups} the role. Others ${without_group === "refuse" ? "cannot sign in" : `get the role ${default_role}`}.`;
}
