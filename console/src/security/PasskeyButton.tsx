import { Fingerprint } from "lucide-react";
import { Button } from "../parts/Button.tsx";
import { Alert } from "../parts/Field.tsx";
import { useTask } from "../parts/task.ts";
import type { Session } from "../session/session.ts";
import { signInWithPasskey } from "./passkeys.ts";

// If the person closes the browser's dialog, nothing happens.
export function PasskeyButton({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const task = useTask();
  const run = async () => {
    const session = await signInWithPasskey();
    if (session) onSignedIn(session);
  };
  return (
    <div className="grid gap-2">
      <Button className="h-9" disabled={task.isBusy} onClick={() => task.run(run)}>
        <Fingerprint size={15} aria-hidden /> Sign in with a passkey
      </Button>
      {task.problem !== null && <Alert>{task.problem}</Alert>}
    </div>
  );
}
