import type { FormEvent } from "react";
import { Button } from "../parts/Button.tsx";
import { Alert, Field } from "../parts/Field.tsx";
import { typedIn } from "../parts/form.ts";
import { useTask } from "../parts/task.ts";
import { giveSecondFactor, type FactorKind, type Session } from "../session/session.ts";
import { PasskeyButton } from "./PasskeyButton.tsx";
import { canUsePasskeys } from "./passkeys.ts";

// `kinds`: what this person has.
type Props = { kinds: FactorKind[]; onSignedIn: (session: Session) => void; onBack: () => void };

// The second step of signing in.
export function CodeForm({ kinds, onSignedIn, onBack }: Props) {
  const task = useTask();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const code = typedIn(event.currentTarget)("code").trim();
    task.run(async () => onSignedIn(await giveSecondFactor(code)));
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <Field
        name="code"
        label="Code"
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        required
        maxLength={40}
        autoFocus
        hint={
          kinds.includes("totp")
            ? "The six digits that your authenticator app shows, or one of your recovery codes."
            : "One of your recovery codes."
        }
      />
      {task.problem !== null && <Alert>{task.problem}</Alert>}
      <Button type="submit" look="primary" className="h-9" disabled={task.isBusy}>
        {task.isBusy ? "Signing in…" : "Sign in"}
      </Button>
      {kinds.includes("passkey") && canUsePasskeys() && <PasskeyButton onSignedIn={onSignedIn} />}
      <Button look="quiet" onClick={onBack} disabled={task.isBusy}>
        Back
      </Button>
    </form>
  );
}
