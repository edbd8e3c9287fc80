import { useId, useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Alert } from "./Field.tsx";
import { typedIn } from "./form.ts";
import { useTask } from "./task.ts";

type Typed = ReturnType<typeof typedIn>;
type Props = {
  title: string;
  width?: "small" | "medium";
  act: string;
  actBusy?: string;
  isHarsh?: boolean;
  children: ReactNode;
  onClose: () => void;
  // Says what is wrong with the input if that can be determined without the service.
  refuse?: (typed: Typed) => string | null;
  run: (typed: Typed) => Promise<void>;
};

// A form that is submitted once. If the service rejects it, the input is kept.
export function FormDialog({
  title,
  width = "medium",
  act,
  actBusy = act,
  isHarsh = false,
  children,
  onClose,
  refuse,
  run,
}: Props) {
  const formId = useId();
  const task = useTask();
  const [refusal, setRefusal] = useState<string | null>(null);
  const problem = refusal ?? task.problem;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    const words = refuse?.(typed) ?? null;
    setRefusal(words);
    if (words === null) task.run(() => run(typed));
  }

  return (
    <Dialog
      title={title}
      width={width}
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose} disabled={task.isBusy}>
            Cancel
          </Button>
          <Button type="submit" form={formId} look={isHarsh ? "danger" : "primary"} disabled={task.isBusy}>
            {task.isBusy ? actBusy : act}
          </Button>
        </>
      }
    >
      <form id={formId} className="grid grid-cols-1 gap-4" onSubmit={submit}>
        {children}
        {problem !== null && <Alert>{problem}</Alert>}
      </form>
    </Dialog>
  );
}
