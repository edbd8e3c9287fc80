import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "../parts/Button.tsx";
import { CopyBlock, CopyLine } from "../parts/Copy.tsx";
import { Alert, Field } from "../parts/Field.tsx";
import { typedIn } from "../parts/form.ts";
import { useTask } from "../parts/task.ts";
import { beginApp, confirmApp, type AppSecret } from "../session/factors.ts";

type StepProps = { act: string; actBusy: string; children: ReactNode; run: (typed: (name: string) => string) => Promise<void> };

// One form with one button. If the service rejects it, the input is kept.
function Step({ act, actBusy, children, run }: StepProps) {
  const task = useTask();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    task.run(() => run(typed));
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      {children}
      {task.problem !== null && <Alert>{task.problem}</Alert>}
      <Button type="submit" look="primary" className="h-9" disabled={task.isBusy}>
        {task.isBusy ? actBusy : act}
      </Button>
    </form>
  );
}

type PasswordProps = {
  email: string;
  act: string;
  actBusy: string;
  children: ReactNode;
  run: (password: string, typed: (name: string) => string) => Promise<void>;
};

// A change of how a person signs in needs the password again.
export function PasswordStep({ email, act, actBusy, children, run }: PasswordProps) {
  return (
    <Step act={act} actBusy={actBusy} run={(typed) => run(typed("password"), typed)}>
      {children}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <Field
        name="password"
        type="password"
        label="Your password"
        autoComplete="current-password"
        required
        autoFocus
        data-first-focus=""
      />
    </Step>
  );
}

// `onDone` gets the recovery codes. There are none if codes from an earlier factor still work.
export type SetUpProps = { email: string; csrfToken: () => string; onDone: (codes: string[]) => void };

// Sets up an authenticator app: the password, then the QR code and a first code.
export function AppSetUp({ email, csrfToken, onDone }: SetUpProps) {
  const [secret, setSecret] = useState<AppSecret | null>(null);
  if (!secret)
    return (
      <PasswordStep
        email={email}
        act="Continue"
        actBusy="Checking…"
        run={async (password) => setSecret(await beginApp(password, csrfToken()))}
      >
        <p className="text-sm text-soft">
          You need an authenticator app on your phone, such as Google Authenticator, Microsoft Authenticator, 1Password or Aegis.
          Once it is set up, signing in with your password also asks for a code from the app.
        </p>
      </PasswordStep>
    );
  const confirm = async (typed: (name: string) => string) => onDone(await confirmApp(typed("code").trim(), csrfToken()));
  return (
    <Step act="Confirm" actBusy="Confirming…" run={confirm}>
      <p className="text-sm text-soft">Scan this with the app, or enter the key by hand.</p>
      <QrCode {...secret.qr} />
      <CopyLine label="Key" text={secret.secret} />
      <Field
        key="code"
        name="code"
        label="Code that the app shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={10}
        autoFocus
        hint="Six digits. Your other sessions will end."
      />
    </Step>
  );
}

// Dark on white in both themes, with the quiet border that scanners need.
function QrCode({ size, rows }: { size: number; rows: string[] }) {
  const border = 4;
  const path = rows.flatMap((row, y) =>
    Array.from(row.matchAll(/1+/g), ({ 0: run, index }) => `M${index + border} ${y + border}h${run.length}v1h-${run.length}z`),
  );
  const side = size + 2 * border;
  return (
    <svg
      role="img"
      aria-label="QR code for the authenticator app"
      viewBox={`0 0 ${side} ${side}`}
      className="mx-auto w-52 rounded-lg"
    >
      <path fill="#fff" d={`M0 0h${side}v${side}H0z`} />
      <path fill="#000" shapeRendering="crispEdges" d={path.join("")} />
    </svg>
  );
}

export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <div className="grid gap-4">
      <p className="text-sm text-soft">
        Keep these recovery codes in a safe place, such as a password manager. If you lose your phone, each of them lets you in
        once. They are not shown again.
      </p>
      <CopyBlock name="Recovery codes" text={codes.join("\n")} />
      <Button look="primary" className="h-9" onClick={onDone}>
        I have saved the codes
      </Button>
    </div>
  );
}
