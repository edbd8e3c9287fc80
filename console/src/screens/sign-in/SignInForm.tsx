import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { wordsOf } from "../../parts/States.tsx";
import { signIn, type FactorKind, type Session } from "../../session/session.ts";
import { CodeForm } from "../../security/CodeForm.tsx";
import { PasskeyButton } from "../../security/PasskeyButton.tsx";
import { canUsePasskeys } from "../../security/passkeys.ts";
import { IssuerChoice, optionsQuery } from "./IssuerChoice.tsx";
import { TenantChoice } from "./TenantChoice.tsx";

type Typed = { email: string; password: string };
// `known` is the person who signs in again. Nobody else may sign in here.
// `tenant` is the one whose identity providers are offered.
// `children` are shown until the password is accepted.
type Props = {
  onSignedIn: (session: Session) => void;
  known?: { email: string; tenant: string };
  tenant?: string | undefined;
  children?: ReactNode;
};

export function SignInForm({ onSignedIn, known, tenant: named, children }: Props) {
  const options = useQuery(optionsQuery(known?.tenant ?? named));
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [kinds, setKinds] = useState<FactorKind[] | null>(null);
  const [asked, setAsked] = useState<{ typed: Typed; tenants: string[] } | null>(null);

  async function attempt(typed: Typed, tenant = known?.tenant): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      const answer = await signIn({ ...typed, ...(tenant !== undefined && { tenant }) });
      if (answer.kind === "signed-in") return onSignedIn(answer.session);
      if (answer.kind === "second-factor") setKinds(answer.kinds);
      else setAsked({ typed, tenants: answer.tenants });
    } catch (error) {
      setAsked(null);
      setProblem(wordsOf(error));
    }
    setBusy(false);
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    void attempt({ email: typed("email").trim(), password: typed("password") });
  }

  if (kinds) return <CodeForm kinds={kinds} onSignedIn={onSignedIn} onBack={() => setKinds(null)} />;
  if (asked)
    return (
      <TenantChoice
        tenants={asked.tenants}
        isBusy={isBusy}
        onChosen={(tenant) => void attempt(asked.typed, tenant)}
        onBack={() => setAsked(null)}
      />
    );
  return (
    <div className="grid gap-4">
      <form className="grid gap-4" onSubmit={submit}>
        <Field
          name="email"
          type="email"
          label="E-mail"
          autoComplete="username"
          required
          defaultValue={known?.email}
          readOnly={known !== undefined}
          autoFocus={known === undefined}
        />
        <Field
          name="password"
          type="password"
          label="Password"
          autoComplete="current-password"
          required
          data-first-focus={known ? "" : undefined}
        />
        {problem !== null && <Alert>{problem}</Alert>}
        <Button type="submit" look="primary" className="h-9" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </form>
      {options.data?.passkeys === true && canUsePasskeys() && <PasskeyButton onSignedIn={onSignedIn} />}
      <IssuerChoice tenant={known?.tenant ?? named} isApart={known !== undefined} />
      {children}
    </div>
  );
}
