import type { User, UserLink } from "@casehound/client";
import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Moment } from "../../parts/Time.tsx";

// A link is shown only once, so a stray key must not close the dialog.
export function LinkDialog({ user, link, onClose }: { user: User; link: UserLink; onClose: () => void }) {
  const isReset = link.purpose === "password-reset";
  return (
    <Dialog
      title={isReset ? `A new password for ${user.name}` : `The invitation of ${user.name}`}
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have passed it on
        </Button>
      }
    >
      <div className="grid gap-4">
        <p className="text-sm text-soft">
          Give this link to {user.name} alone, by a way that you trust: whoever opens it chooses the password. It works once,
          until <Moment at={link.expires_at} />, and is not shown again.
        </p>
        <CopyLine label="Link" text={link.url} />
      </div>
    </Dialog>
  );
}
