import { useQuery } from "@tanstack/react-query";
import { Suspense, lazy, useState } from "react";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Loading } from "../parts/States.tsx";
import { Front } from "../screens/sign-in/Front.tsx";
import { readOptions, signOut, type Session } from "../session/session.ts";

import { canUsePasskeys } from "./passkeys.ts";

const PasskeySetUp = lazy(async () => ({ default: (await import("./PasskeySetUp.tsx")).PasskeySetUp }));
const RecoveryCodes = lazy(async () => ({ default: (await import("./AppSetUp.tsx")).RecoveryCodes }));
const AppSetUp = lazy(async () => ({ default: (await import("./AppSetUp.tsx")).AppSetUp }));

type Props = { session: Session; isOnTop: boolean; onDone: () => void; onLeave: () => void };

const title = "Set up two-factor authentication";

// For a person whose tenant requires a second factor. `isOnTop`: the person was working when the rule took effect, and keeps all drafts.
export function AddFactor({ session, isOnTop, onDone, onLeave }: Props) {
  const options = useQuery({ queryKey: ["auth", "options"], queryFn: () => readOptions(undefined) });
  const [wantsPasskey, setWantsPasskey] = useState(false);
  const [codes, setCodes] = useState<string[] | null>(null);
  const show = (made: string[]) => (made.length > 0 ? setCodes(made) : onDone());
  const SetUp = wantsPasskey ? PasskeySetUp : AppSetUp;
  const leave = () => void signOut(session.csrf_token).then(onLeave, () => {});
  const content = (
    <div className="grid gap-3">
      <p className="text-sm font-medium">{session.tenant.slug} requires a second factor. Add one to continue.</p>
      <Suspense fallback={<Loading lines={3} name="Loading" />}>
        {codes ? (
          <RecoveryCodes codes={codes} onDone={onDone} />
        ) : (
          <SetUp email={session.user.email} csrfToken={() => session.csrf_token} onDone={show} />
        )}
      </Suspense>
      {!codes && options.data?.passkeys === true && canUsePasskeys() && (
        <Button onClick={() => setWantsPasskey(!wantsPasskey)}>
          {wantsPasskey ? "Use an authenticator app instead" : "Use a passkey instead"}
        </Button>
      )}
      {!codes && (
        <Button look="quiet" onClick={leave}>
          Sign out
        </Button>
      )}
    </div>
  );
  if (!isOnTop) return <Front title={title}>{content}</Front>;
  return (
    <Dialog title={title} width="small">
      {content}
    </Dialog>
  );
}
