import { Field } from "../parts/Field.tsx";
import { FormDialog } from "../parts/FormDialog.tsx";
import { toast } from "../parts/Toasts.tsx";
import { changePassword } from "../session/session.ts";
import { useWorkspace } from "../session/workspace.tsx";

const lengthMin = 12;

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { session, csrfToken } = useWorkspace();
  const run = async (typed: (name: string) => string) => {
    await changePassword({ current: typed("current"), new: typed("new") }, csrfToken());
    toast({ kind: "done", words: "Your password was changed. You are signed out everywhere else." });
    onClose();
  };
  return (
    <FormDialog
      title="Change the password"
      width="small"
      act="Change password"
      actBusy="Changing…"
      onClose={onClose}
      refuse={(typed) => (typed("new") === typed("again") ? null : "The two new passwords differ.")}
      run={run}
    >
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
      <Field name="again" type="password" label="Confirm password" autoComplete="new-password" required />
    </FormDialog>
  );
}
