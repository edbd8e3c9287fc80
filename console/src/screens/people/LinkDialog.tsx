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
      title={isReset ? `Password reset for ${user.name}` : `Invitation for ${user.name}`}
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have sent it
        </Button>
      }
    >
      <div className="grid gap-4">
        <p className="text-sm text-soft">
          Send this link only to {user.name}, over a channel that you trust: anybody who opens it can set the password. It works
          once, until <Moment at={link.expires_at} />, and is not shown again.
        </p>
        <CopyLine label="Link" text={link.url} />
      </div>
    </Dialog>
  );
}
