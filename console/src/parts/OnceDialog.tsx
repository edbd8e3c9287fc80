import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";

// The one time that a secret is seen: no stray key puts it away.
export function OnceDialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog
      title={title}
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className="grid gap-4">{children}</div>
    </Dialog>
  );
}
