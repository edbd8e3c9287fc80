import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { wordsOf } from "../../parts/States.tsx";
import { oidcPath, readOptions, signIn, type Session } from "../../session/session.ts";
import { TenantChoice } from "./TenantChoice.tsx";

type Typed = { email: string; password: string };
// `known` is the person who signs in again. Nobody else may sign in here.
type Props = { onSignedIn: (session: Session) => void; known?: { email: string; tenant: string } };

export function SignInForm({ onSignedIn, known }: Props) {
  const options = useQuery({ queryKey: ["auth", "options"], queryFn: readOptions, retry: 1 });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ typed: Typed; tenants: string[] } | null>(null);

  async function attempt(typed: Typed, tenant = known?.tenant): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      const answer = await signIn({ ...typed, ...(tenant !== undefined && { tenant }) });
      if (answer.kind === "signed-in") return onSignedIn(answer.session);
      setAsked({ typed, tenants: answer.tenants });
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

  if (asked)
    return (
      <TenantChoice
        tenants={asked.tenants}
        isBusy={isBusy}
        onChosen={(tenant) => void attempt(asked.typed, tenant)}
        onBack={() => setAsked(null)}
      />
    );
  const oidc = options.data?.oidc ?? null;
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
      {oidc && <OtherIssuer name={oidc.name} isApart={known !== undefined} />}
    </div>
  );
}

// `isApart` opens a new tab, because this one may hold unsaved work.
function OtherIssuer({ name, isApart }: { name: string; isApart: boolean }) {
  return (
    <a
      href={oidcPath}
      {...(isApart && { target: "_blank", rel: "noreferrer" })}
      className="inline-flex h-9 items-center justify-center rounded-md border border-edge/50 bg-surface text-sm font-medium hover:bg-hover"
    >
      Sign in with {name}
    </a>
  );
}
