import { CopyBlock, CopyLine } from "../../parts/Copy.tsx";
import { OnceDialog } from "../../parts/OnceDialog.tsx";
import { Moment } from "../../parts/Time.tsx";

export type Secret = { client_id: string; client_secret: string; previousUntil?: string | undefined };

export function SecretDialog({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const { client_id, client_secret, previousUntil } = secret;
  const request = `curl -s ${location.origin}/v2/oauth/token \\
  -d grant_type=client_credentials \\
  -d client_id=${client_id} \\
  -d client_secret=${client_secret}`;
  return (
    <OnceDialog title="Store the secret now" onClose={onClose}>
      <p className="text-sm text-soft">
        Only its hash is stored, so it cannot be shown again. Keep it with your servers' secrets and never put it in a page.
      </p>
      <CopyLine label="Client id" text={client_id} />
      <CopyLine label="Client secret" text={client_secret} />
      {previousUntil !== undefined && (
        <p className="text-sm text-warn">
          The previous secret works until <Moment at={previousUntil} />.
        </p>
      )}
      <div className="grid gap-1">
        <p className="text-xs font-medium text-soft">Request a token with it</p>
        <CopyBlock name="the token request" text={request} />
      </div>
    </OnceDialog>
  );
}
