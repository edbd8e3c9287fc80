import type { Session } from "../../session/session.ts";
import { Front } from "./Front.tsx";
import { SignInForm } from "./SignInForm.tsx";

export function SignInScreen({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  return (
    <Front title="Sign in">
      <SignInForm onSignedIn={onSignedIn} />
    </Front>
  );
}
