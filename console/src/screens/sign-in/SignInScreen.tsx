import { useNavigate, useSearch } from "@tanstack/react-router";
import { Alert } from "../../parts/Field.tsx";
import { lastTenant } from "../../session/last-tenant.ts";
import type { Session } from "../../session/session.ts";
import { Front } from "./Front.tsx";
import { SignInForm } from "./SignInForm.tsx";

// Texts for the problem codes that the service returns when sign-in through an identity provider fails.
const issuerProblems: Record<string, string> = {
  cancelled: "The sign-in was cancelled.",
  expired: "The sign-in took too long or was started in another browser. Try again.",
  "issuer-unreachable": "The identity provider cannot be reached. Try again, or use your password.",
  refused: "The identity provider's response was not accepted. Contact your administrator.",
  "no-role": "None of your groups has access to Casehound. Ask your admin.",
  "too-many-groups": "You are in too many groups, so the identity provider did not send them. Ask your admin.",
  "has-second-factor":
    "Your user has two-factor authentication, so sign in with it. To use the identity provider instead, ask another admin to reset it first.",
  "unknown-person": "No user here has that account. Ask your admin for an invitation.",
};

type Props = { onSignedIn: (session: Session) => void; problem?: string | undefined; tenant?: string | undefined };

export function SignInScreen({ onSignedIn, problem, tenant = lastTenant() }: Props) {
  const words = problem === undefined ? null : (issuerProblems[problem] ?? "You were not signed in.");
  return (
    <Front title="Sign in">
      {words !== null && (
        <div className="mb-4">
          <Alert>{words}</Alert>
        </div>
      )}
      <SignInForm onSignedIn={onSignedIn} tenant={tenant}>
        <p className="mt-1 border-t border-line pt-4 text-xs text-soft">
          No account yet? Ask an admin for an invitation. In a new installation, open the link that Casehound printed when it
          started. To print it again, run <code className="font-mono">./casehound link</code>.
        </p>
      </SignInForm>
    </Front>
  );
}

// The page that a failed sign-in through an identity provider returns to.
export function SignInPage() {
  const navigate = useNavigate();
  const { problem, tenant } = useSearch({ from: "/sign-in" });
  return <SignInScreen problem={problem} tenant={tenant} onSignedIn={() => void navigate({ to: "/", replace: true })} />;
}
