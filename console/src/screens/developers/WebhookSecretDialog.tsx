import { CopyLine } from "../../parts/Copy.tsx";
import { OnceDialog } from "../../parts/OnceDialog.tsx";
import { Moment } from "../../parts/Time.tsx";

type Props = { secret: string; previousUntil: string | undefined; onClose: () => void };

export function WebhookSecretDialog({ secret, previousUntil, onClose }: Props) {
  return (
    <OnceDialog title="The signing secret, this once" onClose={onClose}>
      <p className="text-sm text-soft">
        With it the receiver tells our messages from anybody else's, by the Standard Webhooks scheme. It is not shown again.
      </p>
      <CopyLine label="Signing secret" text={secret} />
      {previousUntil !== undefined && (
        <p className="text-sm text-warn">
          Messages are signed with the secret before it too until <Moment at={previousUntil} />.
        </p>
      )}
    </OnceDialog>
  );
}
