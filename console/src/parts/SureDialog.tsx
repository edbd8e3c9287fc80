import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Alert } from "./Field.tsx";
import { useTask } from "./task.ts";

type Props = {
  title: string;
  act: string;
  isHarsh?: boolean;
  children: ReactNode;
  onClose: () => void;
  run: () => Promise<void>;
};

// Asks for confirmation and shows the service's message if it rejects the change.
export function SureDialog({ title, act, isHarsh = false, children, onClose, run }: Props) {
  const task = useTask();
  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose} disabled={task.isBusy}>
            Cancel
          </Button>
          <Button look={isHarsh ? "danger" : "primary"} onClick={() => task.run(run)} disabled={task.isBusy} data-first-focus="">
            {act}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-sm text-soft">
        {children}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}
