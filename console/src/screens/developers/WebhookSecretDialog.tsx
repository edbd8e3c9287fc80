import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Moment } from "../../parts/Time.tsx";

type Props = { secret: string; previousUntil: string | undefined; onClose: () => void };

// The one time that a secret is seen: no stray key puts it away.
export function WebhookSecretDialog({ secret, previousUntil, onClose }: Props) {
  return (
    <Dialog
      title="The signing secret, this once"
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
          With it the receiver tells our messages from anybody else's, by the Standard Webhooks scheme. It is not shown again.
        </p>
        <CopyLine label="Signing secret" text={secret} />
        {previousUntil !== undefined && (
          <p className="text-sm text-warn">
            Messages are signed with the secret before it too until <Moment at={previousUntil} />.
          </p>
        )}
      </div>
    </Dialog>
  );
}
