import type { SignInIssuer } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ChangeEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { GroupRoles } from "./GroupRoles.tsx";
import { changeOf, draftOf, newIssuerOf, type IssuerDraft } from "./issuer-draft.ts";

type Props = { issuer: SignInIssuer | null; onClose: () => void };

function useIssuerChanges(issuer: SignInIssuer | null, onClose: () => void) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const done = (words: string) => {
    toast({ kind: "done", words });
    void cache.invalidateQueries({ queryKey: ["issuers"] });
    onClose();
  };
  const save = async (draft: IssuerDraft) => {
    const { name } = changeOf(draft);
    const params = { issuer_key: draft.issuer_key };
    if (issuer) await client.call("updateSignInIssuer", { params, body: changeOf(draft) });
    else await client.call("createSignInIssuer", { body: newIssuerOf(draft) });
    done(issuer ? `${name} was changed.` : `People can now sign in with ${name}.`);
  };
  const remove = async () => {
    if (!issuer) return;
    await client.call("deleteSignInIssuer", { params: { issuer_key: issuer.issuer_key } });
    void cache.invalidateQueries({ queryKey: ["users"] });
    done(`${issuer.name} was deleted.`);
  };
  return { save, remove };
}

export function IssuerEditor({ issuer, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(issuer));
  const [isDeleting, setDeleting] = useState(false);
  const task = useTask();
  const { save, remove } = useIssuerChanges(issuer, onClose);
  const change = (to: Partial<IssuerDraft>) => setDraft((before) => ({ ...before, ...to }));
  if (isDeleting && issuer)
    return (
      <SureDialog title={`Delete ${issuer.name}?`} act="Delete" isHarsh onClose={() => setDeleting(false)} run={remove}>
        <p>Everybody who signed in with {issuer.name} is signed out. They then need a password or another identity provider.</p>
      </SureDialog>
    );
  return (
    <Dialog
      title={issuer ? issuer.name : "New identity provider"}
      width="wide"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          {issuer && (
            <Button look="danger" className="mr-auto" onClick={() => setDeleting(true)} disabled={task.isBusy}>
              Delete…
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="issuer" disabled={task.isBusy}>
            {issuer ? "Save" : "Add"}
          </Button>
        </>
      }
    >
      <form
        id="issuer"
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          task.run(() => save(draft));
        }}
      >
        {task.problem !== null && <Alert>{task.problem}</Alert>}
        <Identity issuer={issuer} draft={draft} onChange={change} />
        <Credentials issuer={issuer} draft={draft} onChange={change} />
        <TrustSwitch draft={draft} onChange={change} />
        <GroupRoles draft={draft} onChange={change} />
      </form>
    </Dialog>
  );
}

type Part = { issuer: SignInIssuer | null; draft: IssuerDraft; onChange: (change: Partial<IssuerDraft>) => void };
type TextName = "name" | "issuer_key" | "issuer" | "client_id" | "client_secret" | "extra_scopes";

function text({ draft, onChange }: Omit<Part, "issuer">, name: TextName) {
  return {
    name,
    value: draft[name],
    autoComplete: "off",
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => onChange({ [name]: target.value }),
  };
}

function Identity({ issuer, draft, onChange }: Part) {
  const { tenant } = useWorkspace().session;
  const part = { draft, onChange };
  const path = `/auth/oidc/${tenant.slug}/${draft.issuer_key.trim() || "…"}/callback`;
  return (
    <>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field
          {...text(part, "name")}
          label="Name"
          required
          maxLength={100}
          data-first-focus=""
          hint="Shown on the sign-in page."
        />
        <Field
          {...text(part, "issuer_key")}
          label="Key"
          required
          maxLength={40}
          readOnly={issuer !== null}
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          hint="Lower-case letters, digits and hyphens, such as entra."
        />
      </div>
      <CopyLine label="Redirect URI to register with the provider" text={issuer?.redirect_uri ?? `${location.origin}${path}`} />
      <Field
        {...text(part, "issuer")}
        label="Issuer URL"
        type="url"
        required
        maxLength={500}
        readOnly={issuer !== null}
        hint="Exactly as in the provider's discovery document, without /.well-known/openid-configuration."
      />
    </>
  );
}

function Credentials({ issuer, draft, onChange }: Part) {
  const part = { draft, onChange };
  return (
    <>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field {...text(part, "client_id")} label="Client ID" required maxLength={255} />
        <Field
          {...text(part, "client_secret")}
          label="Client secret"
          type="password"
          autoComplete="new-password"
          required={issuer === null}
          maxLength={512}
          hint={issuer ? "Leave it empty to keep the current one." : "It is never shown again."}
        />
      </div>
      <Field
        {...text(part, "extra_scopes")}
        label="Additional scopes"
        maxLength={500}
        hint="Requested in addition to openid, email and profile. Okta sends groups only if you add groups here."
      />
    </>
  );
}

function TrustSwitch({ draft, onChange }: Omit<Part, "issuer">) {
  return (
    <label className="flex items-start gap-2 text-sm">
      <input
        type="checkbox"
        checked={draft.trusts_emails}
        onChange={({ target }) => onChange({ trusts_emails: target.checked })}
        className="mt-0.5 accent-accent"
      />
      <span>
        <span className="block font-medium">Trust e-mail addresses that are not marked as verified</span>
        <span className="block text-xs text-soft">
          Microsoft Entra ID does not mark any. Turn this on only if people cannot choose their own address at the provider.
        </span>
      </span>
    </label>
  );
}
