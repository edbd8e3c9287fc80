import type { ScimToken } from "@casehound/client";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleClient } from "../../data/client.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { Age } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { DirectoryRoles } from "./DirectoryRoles.tsx";
import { NewTokenDialog } from "./NewTokenDialog.tsx";

const tokensMax = 2;

function provisioningQuery(client: ConsoleClient) {
  return queryOptions({ queryKey: ["provisioning"], queryFn: ({ signal }) => client.call("getProvisioning", { signal }) });
}

function tokensQuery(client: ConsoleClient) {
  return queryOptions({ queryKey: ["scim-tokens"], queryFn: ({ signal }) => client.call("listScimTokens", { signal }) });
}

type Step = { kind: "new" } | { kind: "roles" } | { kind: "revoke"; token: ScimToken };

// How directories provision people: the base URL, the tokens, and the roles by group.
export function ProvisioningDialog({ onClose }: { onClose: () => void }) {
  const { client } = useWorkspace();
  const settings = useQuery(provisioningQuery(client));
  const tokens = useQuery(tokensQuery(client));
  const [step, setStep] = useState<Step | null>(null);
  const back = () => setStep(null);
  if (step?.kind === "new") return <NewTokenDialog onClose={back} />;
  if (step?.kind === "revoke") return <RevokeDialog token={step.token} onClose={back} />;
  if (step?.kind === "roles" && settings.data) return <DirectoryRoles settings={settings.data} onClose={back} />;
  const listed = tokens.data?.scim_tokens ?? [];
  const isFull = listed.length >= tokensMax;
  return (
    <Dialog
      title="Provisioning (SCIM)"
      onClose={onClose}
      footer={
        <>
          <Button onClick={() => setStep({ kind: "roles" })} disabled={!settings.data}>
            Roles by group
          </Button>
          <Button look="primary" onClick={() => setStep({ kind: "new" })} disabled={isFull} data-first-focus="">
            Create a token
          </Button>
        </>
      }
    >
      <div className="grid gap-4 text-sm">
        <p className="text-soft">
          A directory, such as Microsoft Entra ID or Okta, creates people here, keeps their names up to date and disables them
          when they leave. Enter the base URL and a token there. <GuideLink page="provisioning" about="provisioning" />
        </p>
        {(settings.isLoading || tokens.isLoading) && <Loading lines={2} name="Loading the provisioning settings" />}
        {settings.isError && <Trouble error={settings.error} onRetry={() => void settings.refetch()} />}
        {tokens.isError && <Trouble error={tokens.error} onRetry={() => void tokens.refetch()} />}
        {settings.data && <CopyLine label="Base URL" text={settings.data.base_url} />}
        {settings.data && (
          <p className="text-soft">{groupWords(settings.data.groups.length, settings.data.role_groups.length)}</p>
        )}
        {tokens.data && listed.length === 0 && <p className="text-soft">There is no token yet, so no directory is connected.</p>}
        <ul className="grid gap-2">
          {listed.map((token) => (
            <TokenRow key={token.scim_token_id} token={token} onRevoke={() => setStep({ kind: "revoke", token })} />
          ))}
        </ul>
        {isFull && <p className="text-xs text-soft">You can have two tokens. Revoke one to create another.</p>}
      </div>
    </Dialog>
  );
}

function groupWords(groups: number, mapped: number): string {
  if (groups === 0 && mapped === 0) return "The directory has sent no groups yet.";
  const received = groups === 1 ? "One group was received." : `${groups} groups were received.`;
  if (mapped === 0) return `${received} Groups do not decide roles yet.`;
  return `${received} ${mapped === 1 ? "One group decides" : `${mapped} groups decide`} the role.`;
}

function TokenRow({ token, onRevoke }: { token: ScimToken; onRevoke: () => void }) {
  const { name, adopts_people, created_at, last_used_at } = token;
  return (
    <li className="flex items-center gap-3 rounded-lg border border-line p-3">
      <div className="mr-auto min-w-0">
        <p className="truncate font-medium">{name}</p>
        <p className="text-xs text-soft">
          Created <Age at={created_at} suffix=" ago" />,{" "}
          {last_used_at === undefined ? (
            "never used"
          ) : (
            <>
              last used <Age at={last_used_at} suffix=" ago" />
            </>
          )}
        </p>
        <p className="text-xs text-soft">{adopts_people ? "Manages all people" : "Manages the people whom it creates"}</p>
      </div>
      <Button aria-label={`Revoke ${name}`} onClick={onRevoke}>
        Revoke…
      </Button>
    </li>
  );
}

function RevokeDialog({ token, onClose }: { token: ScimToken; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const run = async () => {
    await client.call("revokeScimToken", { params: { scim_token_id: token.scim_token_id } });
    void cache.invalidateQueries({ queryKey: ["scim-tokens"] });
    toast({ kind: "done", words: `The token ${token.name} was revoked.` });
    onClose();
  };
  return (
    <SureDialog title={`Revoke ${token.name}?`} act="Revoke" isHarsh onClose={onClose} run={run}>
      <p>The directory&apos;s next request is refused. People keep their accounts and roles.</p>
    </SureDialog>
  );
}
