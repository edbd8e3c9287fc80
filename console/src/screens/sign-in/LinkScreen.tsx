import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { Loading, wordsOf } from "../../parts/States.tsx";
import { readLink, redeemLink, type FactorKind, type LinkFacts, type LinkUse } from "../../session/session.ts";
import { CodeForm } from "../../security/CodeForm.tsx";
import { Front } from "./Front.tsx";

const passwordLengthMin = 12;
const titles: Record<LinkFacts["purpose"], string> = {
  "set-up": "Set up Casehound",
  invitation: "Welcome to Casehound",
  "password-reset": "Choose a new password",
};

// The page for invitation, set-up and reset links. The token is in the URL fragment, which browsers do not send to servers. It
// works once and signs the person in.
export function LinkScreen() {
  const hash = useLocation({ select: (location) => location.hash });
  // When the person leaves the page, the address loses its token while this is still shown.
  const [token, setToken] = useState(hash);
  if (hash !== "" && hash !== token) setToken(hash);
  const link = useQuery({
    queryKey: ["auth", "link", token],
    queryFn: () => readLink(token),
    enabled: token !== "",
    retry: false,
    staleTime: Infinity,
  });
  if (token === "") return <NoLink words="The end of the link is missing. Copy the whole link." />;
  if (link.isPending)
    return (
      <Front title="One moment">
        <Loading lines={3} />
      </Front>
    );
  if (link.isError) return <NoLink words={wordsOf(link.error)} />;
  return (
    <Front title={titles[link.data.purpose]}>
      <LinkForm token={token} facts={link.data} />
    </Front>
  );
}

function NoLink({ words }: { words: string }) {
  return (
    <Front title="This link does not work">
      <p className="mb-4 text-sm text-soft">{words}</p>
      <Link to="/" className="text-sm font-medium text-accent underline">
        Go to sign-in
      </Link>
    </Front>
  );
}

function LinkForm({ token, facts }: { token: string; facts: LinkFacts }) {
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [kinds, setKinds] = useState<FactorKind[] | null>(null);
  const { purpose } = facts;
  const enter = () => void navigate({ to: "/", replace: true });

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    const password = typed("password");
    if (password !== typed("again")) return setProblem("The two passwords differ.");
    const given: LinkUse = {
      password,
      ...(purpose !== "password-reset" && { name: typed("name").trim() }),
      ...(purpose === "set-up" && { email: typed("email").trim() }),
    };
    setBusy(true);
    setProblem(null);
    try {
      const entry = await redeemLink(token, given);
      if (entry.kind === "signed-in") enter();
      else setKinds(entry.kinds);
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  }

  if (kinds) return <CodeForm kinds={kinds} onSignedIn={enter} onBack={enter} />;
  return (
    <form className="grid gap-4" onSubmit={(event) => void submit(event)}>
      <For facts={facts} />
      {purpose === "set-up" && <Field name="email" type="email" label="Your e-mail" autoComplete="username" required autoFocus />}
      {purpose !== "password-reset" && (
        <Field
          name="name"
          label="Your name"
          autoComplete="name"
          required
          autoFocus={purpose === "invitation"}
          maxLength={100}
          defaultValue={facts.name ?? ""}
          hint="Shown next to your decisions."
        />
      )}
      <Field
        name="password"
        type="password"
        label={purpose === "password-reset" ? "New password" : "Password"}
        autoComplete="new-password"
        minLength={passwordLengthMin}
        required
        autoFocus={purpose === "password-reset"}
        hint={`At least ${passwordLengthMin} characters. Several unrelated words make a good password.`}
      />
      <Field name="again" type="password" label="Confirm password" autoComplete="new-password" required />
      {problem !== null && <Alert>{problem}</Alert>}
      <Button type="submit" look="primary" className="h-9" disabled={isBusy}>
        {isBusy ? "Saving…" : purpose === "password-reset" ? "Set new password" : "Create account"}
      </Button>
    </form>
  );
}

function For({ facts: { email, tenant } }: { facts: LinkFacts }) {
  const at = <strong className="font-medium text-ink">{tenant}</strong>;
  if (email === null) return <p className="text-sm text-soft">You will be the first admin of {at}.</p>;
  return (
    <p className="text-sm text-soft">
      For <strong className="font-medium text-ink">{email}</strong> at {at}.
    </p>
  );
}
