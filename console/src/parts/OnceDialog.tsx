import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";

// A secret is shown only once, so a stray key must not close the dialog.
export function OnceDialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog
      title={title}
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="grid gap-4">{children}</div>
    </Dialog>
  );
}
