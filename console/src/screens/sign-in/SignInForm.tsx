import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field, textOf } from "../../parts/Field.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { oidcPath, readMethods, signIn, type Session } from "../../session/session.ts";

type Props = { onSignedIn: (session: Session) => void; email?: string };

export function SignInForm({ onSignedIn, email = "" }: Props) {
  const methods = useQuery({ queryKey: ["auth", "methods"], queryFn: readMethods, retry: 1 });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      onSignedIn(await signIn({ email: textOf(form, "email"), password: textOf(form, "password") }));
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  }

  const oidc = methods.data?.oidc ?? null;
  return (
    <div className="grid gap-4">
      {methods.data?.password !== false && (
        <form className="grid gap-4" onSubmit={(event) => void submit(event)}>
          <Field name="email" type="email" label="E-mail" autoComplete="username" required defaultValue={email} />
          <Field name="password" type="password" label="Password" autoComplete="current-password" required />
          {problem !== null && <Alert>{problem}</Alert>}
          <Button type="submit" look="primary" className="h-9" disabled={isBusy}>
            {isBusy ? "Signing in…" : "Sign in"}
          </Button>
        </form>
      )}
      {oidc && (
        <a
          href={oidcPath}
          className="inline-flex h-9 items-center justify-center rounded-md border border-edge/50 bg-surface text-sm font-medium hover:bg-hover"
        >
          Sign in with {oidc.name}
        </a>
      )}
    </div>
  );
}
