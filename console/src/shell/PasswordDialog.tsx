import { useId, useState, type FormEvent } from "react";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert, Field } from "../parts/Field.tsx";
import { typedIn } from "../parts/form.ts";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { changePassword } from "../session/session.ts";
import { useWorkspace } from "../session/workspace.tsx";

const lengthMin = 12;

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { session, csrfToken } = useWorkspace();
  const formId = useId();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    if (typed("new") !== typed("again")) return setProblem("The two new passwords differ.");
    setBusy(true);
    setProblem(null);
    try {
      await changePassword({ current: typed("current"), new: typed("new") }, csrfToken());
      toast({ kind: "done", words: "Your password is changed. Wherever else you were signed in, you are signed out." });
      onClose();
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title="Change the password"
      width="small"
      onClose={onClose}
      isBusy={isBusy}
      footer={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            Cancel
          </Button>
          <Button type="submit" form={formId} look="primary" disabled={isBusy}>
            {isBusy ? "Changing it…" : "Change it"}
          </Button>
        </>
      }
    >
      <form id={formId} className="grid gap-4" onSubmit={(event) => void submit(event)}>
        <input type="hidden" name="username" autoComplete="username" value={session.user.email} />
        <Field
          name="current"
          type="password"
          label="Current password"
          autoComplete="current-password"
          required
          data-first-focus=""
        />
        <Field
          name="new"
          type="password"
          label="New password"
          autoComplete="new-password"
          minLength={lengthMin}
          required
          hint={`At least ${lengthMin} characters. Your other sessions end.`}
        />
        <Field name="again" type="password" label="The same again" autoComplete="new-password" required />
        {problem !== null && <Alert>{problem}</Alert>}
      </form>
    </Dialog>
  );
}
