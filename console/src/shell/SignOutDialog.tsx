import { useState } from "react";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert } from "../parts/Field.tsx";
import { wordsOf } from "../parts/States.tsx";
import { useWorkspace } from "../session/workspace.tsx";

export function SignOutDialog({ onClose }: { onClose: () => void }) {
  const { leave } = useWorkspace();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const out = () => {
    setBusy(true);
    leave("everywhere").catch((error: unknown) => {
      setProblem(wordsOf(error));
      setBusy(false);
    });
  };
  return (
    <Dialog
      title="Sign out everywhere"
      width="small"
      onClose={onClose}
      isBusy={isBusy}
      footer={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            Cancel
          </Button>
          <Button look="danger" onClick={out} disabled={isBusy} data-first-focus="">
            Sign out everywhere
          </Button>
        </>
      }
    >
      <p className="text-sm text-soft">
        Every browser in which you are signed in is signed out at once, this one too. What you have begun to write here is
        discarded.
      </p>
      {problem !== null && (
        <div className="mt-4">
          <Alert>{problem}</Alert>
        </div>
      )}
    </Dialog>
  );
}
