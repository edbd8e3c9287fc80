import type { ApiClient } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { PartNotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age, Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { NewClientDialog } from "./NewClientDialog.tsx";
import { RevokeDialog } from "./RevokeDialog.tsx";
import { RotateDialog } from "./RotateDialog.tsx";
import { SecretDialog, type Secret } from "./SecretDialog.tsx";
import { readsOf } from "./reads.ts";

type Open = { kind: "new" } | { kind: "rotate" | "revoke"; of: ApiClient } | { kind: "secret"; secret: Secret };

// The credentials of servers. A secret is shown only once, when it is created.
export function Credentials() {
  const { client, may } = useWorkspace();
  const read = useQuery({ ...readsOf(client).clients(), enabled: may("read:clients") });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const show = (secret: Secret) => setOpen({ kind: "secret", secret });
  const mayManage = may("manage:clients");
  return (
    <Section
      title="Credentials"
      aside={
        <div className="flex flex-wrap items-center gap-3">
          <GuideLink page="tenancy#who-may-do-what" about="credentials" />
          {mayManage && (
            <Button onClick={() => setOpen({ kind: "new" })}>
              <Plus size={15} aria-hidden /> New credentials
            </Button>
          )}
        </div>
      }
    >
      {!may("read:clients") && <PartNotAvailable scope="read:clients" what="The list of credentials" />}
      {read.isLoading && <Loading lines={3} name="Loading the credentials" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <ClientTable
          clients={read.data.clients}
          onRotate={mayManage ? (of) => setOpen({ kind: "rotate", of }) : null}
          onRevoke={mayManage ? (of) => setOpen({ kind: "revoke", of }) : null}
        />
      )}
      {open?.kind === "new" && <NewClientDialog onClose={close} onMade={show} />}
      {open?.kind === "rotate" && <RotateDialog of={open.of} onClose={close} onMade={show} />}
      {open?.kind === "revoke" && <RevokeDialog of={open.of} onClose={close} />}
      {open?.kind === "secret" && <SecretDialog secret={open.secret} onClose={close} />}
    </Section>
  );
}

type Act = ((of: ApiClient) => void) | null;
type TableProps = { clients: ApiClient[]; onRotate: Act; onRevoke: Act };

function ClientTable({ clients, onRotate, onRevoke }: TableProps) {
  const [isAll, setAll] = useState(false);
  const active = clients.filter((each) => each.revoked_at === undefined);
  const revoked = clients.length - active.length;
  const shown = isAll ? clients : active;
  return (
    <div className="grid gap-2">
      {shown.length === 0 && <p className="text-sm text-soft">There are no active credentials.</p>}
      <ul className="divide-y divide-line" aria-label="Credentials">
        {shown.map((each) => (
          <ClientRow key={each.client_id} of={each} onRotate={onRotate} onRevoke={onRevoke} />
        ))}
      </ul>
      {revoked > 0 && (
        <Button look="quiet" className="-ml-3 justify-self-start" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "Hide revoked" : `Show ${revoked} revoked`}
        </Button>
      )}
    </div>
  );
}

function ClientRow({ of, onRotate, onRevoke }: { of: ApiClient; onRotate: Act; onRevoke: Act }) {
  const { client_id: id, scopes, is_primary, created_at, previous_secret_expires_at: until, revoked_at } = of;
  const isOverlap = until !== undefined && Date.parse(until) > Date.now();
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2.5 first:pt-0">
      <div className="min-w-56 flex-1">
        <p className="flex flex-wrap items-center gap-x-2">
          <span className="font-mono text-sm break-all">{id}</span>
          {is_primary && <span className="rounded bg-sunken px-1.5 text-xs text-soft">created with the tenant</span>}
          {revoked_at !== undefined && <span className="rounded bg-bad-soft px-1.5 text-xs font-medium text-bad">Revoked</span>}
        </p>
        <p className="text-xs text-faint">
          Created <Age at={created_at} suffix=" ago" />
          {revoked_at !== undefined && (
            <>
              {" "}
              · revoked <Age at={revoked_at} suffix=" ago" />
            </>
          )}
        </p>
        {isOverlap && (
          <p className="text-xs text-warn">
            The previous secret works until <Moment at={until} />.
          </p>
        )}
        <details className="text-xs text-soft">
          <summary className="w-fit hover:text-ink">{scopes.length === 1 ? scopes[0] : `${scopes.length} scopes`}</summary>
          <p className="font-mono leading-5">{scopes.join("  ")}</p>
        </details>
      </div>
      {revoked_at === undefined && onRotate && onRevoke && (
        <div className="flex gap-1 max-sm:-ml-3">
          <Button look="quiet" onClick={() => onRotate(of)} aria-label={`Rotate the secret of ${id}`}>
            Rotate…
          </Button>
          <Button look="quiet" onClick={() => onRevoke(of)} aria-label={`Revoke ${id}`}>
            Revoke…
          </Button>
        </div>
      )}
    </li>
  );
}
