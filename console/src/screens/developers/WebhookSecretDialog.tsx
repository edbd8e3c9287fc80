import { CopyLine } from "../../parts/Copy.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { OnceDialog } from "../../parts/OnceDialog.tsx";
import { Moment } from "../../parts/Time.tsx";

type Props = { secret: string; previousUntil: string | undefined; onClose: () => void };

export function WebhookSecretDialog({ secret, previousUntil, onClose }: Props) {
  return (
    <OnceDialog title="Store the signing secret now" onClose={onClose}>
      <p className="text-sm text-soft">
        The receiver uses it to verify that a message comes from Casehound, with the Standard Webhooks scheme. It is not shown
        again.
      </p>
      <CopyLine label="Signing secret" text={secret} />
      {previousUntil !== undefined && (
        <p className="text-sm text-warn">
          Messages are also signed with the previous secret until <Moment at={previousUntil} />.
        </p>
      )}
      <GuideLink page="webhooks#verify-a-message" about="verifying a message" />
    </OnceDialog>
  );
}
