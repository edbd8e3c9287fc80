import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field, textOf } from "../../parts/Field.tsx";
import { Loading, wordsOf } from "../../parts/States.tsx";
import { readLink, redeemLink, type LinkFacts } from "../../session/session.ts";
import { Front } from "./Front.tsx";

const passwordLengthMin = 12;

// Where an invitation, a set-up link or a reset link leads to. It works once.
export function LinkScreen() {
  const { token } = useParams({ from: "/link/$token" });
  const link = useQuery({ queryKey: ["auth", "link", token], queryFn: () => readLink(token), retry: false, staleTime: Infinity });
  const [isDone, setDone] = useState(false);
  if (link.isPending) return <Loading lines={3} />;
  if (link.isError)
    return (
      <Front title="This link does not work">
        <p className="text-sm text-soft">{wordsOf(link.error)} A link works once, and for a limited time: ask for another one.</p>
      </Front>
    );
  if (isDone)
    return (
      <Front title="Your password is set">
        <a href="/" className="font-medium text-accent underline">
          Go to the console
        </a>
      </Front>
    );
  return (
    <Front title={link.data.purpose === "reset" ? "Choose a new password" : "Welcome"}>
      <LinkForm token={token} facts={link.data} onDone={() => setDone(true)} />
    </Front>
  );
}

function LinkForm({ token, facts, onDone }: { token: string; facts: LinkFacts; onDone: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isNew = facts.purpose !== "reset";

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const password = textOf(form, "password");
    if (password !== textOf(form, "again")) return setProblem("The two passwords differ.");
    setBusy(true);
    setProblem(null);
    try {
      await redeemLink(token, { password, ...(isNew && { name: textOf(form, "name") }) });
      onDone();
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  }

  return (
    <form className="grid gap-4" onSubmit={(event) => void submit(event)}>
      <p className="text-sm text-soft">
        For <strong className="font-medium text-ink">{facts.email}</strong> at {facts.tenant}.
      </p>
      {isNew && <Field name="name" label="Your name" autoComplete="name" required hint="It stands beside what you decide." />}
      <Field
        name="password"
        type="password"
        label="Password"
        autoComplete="new-password"
        minLength={passwordLengthMin}
        required
        hint={`At least ${passwordLengthMin} characters.`}
      />
      <Field name="again" type="password" label="The same again" autoComplete="new-password" required />
      {problem !== null && <Alert>{problem}</Alert>}
      <Button type="submit" look="primary" className="h-9" disabled={isBusy}>
        {isBusy ? "Setting it…" : "Set the password"}
      </Button>
    </form>
  );
}
