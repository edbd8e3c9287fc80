import { useNavigate, useSearch } from "@tanstack/react-router";
import { Alert } from "../../parts/Field.tsx";
import type { Session } from "../../session/session.ts";
import { Front } from "./Front.tsx";
import { SignInForm } from "./SignInForm.tsx";

// Texts for the problem codes that the service returns when sign-in through an identity provider fails.
const issuerProblems: Record<string, string> = {
  cancelled: "The sign-in was cancelled.",
  expired: "The sign-in took too long or was started in another browser. Try again.",
  "issuer-unreachable": "The identity provider cannot be reached. Try again, or use your password.",
  refused: "The identity provider's response was not accepted. Contact your administrator.",
  "unknown-person": "No user here has that account. Ask your admin for an invitation.",
};

type Props = { onSignedIn: (session: Session) => void; problem?: string | undefined };

export function SignInScreen({ onSignedIn, problem }: Props) {
  const words = problem === undefined ? null : (issuerProblems[problem] ?? "You were not signed in.");
  return (
    <Front title="Sign in">
      {words !== null && (
        <div className="mb-4">
          <Alert>{words}</Alert>
        </div>
      )}
      <SignInForm onSignedIn={onSignedIn} />
      <p className="mt-5 border-t border-line pt-4 text-xs text-soft">
        No account yet? Ask an admin for an invitation. In a new installation, open the link that Casehound printed when it
        started. To print it again, run <code className="font-mono">./casehound link</code>.
      </p>
    </Front>
  );
}

// The page that a failed sign-in through an identity provider returns to.
export function SignInPage() {
  const navigate = useNavigate();
  const { problem } = useSearch({ from: "/sign-in" });
  return <SignInScreen problem={problem} onSignedIn={() => void navigate({ to: "/", replace: true })} />;
}
