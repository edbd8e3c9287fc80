import { Button } from "../../parts/Button.tsx";
import { CopyBlock, CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Moment } from "../../parts/Time.tsx";

export type Secret = { client_id: string; client_secret: string; previousUntil?: string | undefined };

// The one time that a secret is seen: no stray key puts it away.
export function SecretDialog({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const { client_id, client_secret, previousUntil } = secret;
  const request = `curl -s ${location.origin}/v2/oauth/token \\
  -d grant_type=client_credentials \\
  -d client_id=${client_id} \\
  -d client_secret=${client_secret}`;
  return (
    <Dialog
      title="The secret, this once"
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className="grid gap-4">
        <p className="text-sm text-soft">
          Only a hash of it is kept: it cannot be shown again. Put it where your servers keep their secrets, never into a page.
        </p>
        <CopyLine label="Client id" text={client_id} />
        <CopyLine label="Client secret" text={client_secret} />
        {previousUntil !== undefined && (
          <p className="text-sm text-warn">
            The secret before works until <Moment at={previousUntil} />.
          </p>
        )}
        <div className="grid gap-1">
          <p className="text-xs font-medium text-soft">To get a token with it</p>
          <CopyBlock name="the request for a token" text={request} />
        </div>
      </div>
    </Dialog>
  );
}
