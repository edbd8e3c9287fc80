import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Loading, Trouble } from "../parts/States.tsx";
import { Moment } from "../parts/Time.tsx";
import { toast } from "../parts/Toasts.tsx";
import { readFactors, removeApp, renewCodes, type Factors, type Passkey } from "../session/factors.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { AppSetUp, PasswordStep, RecoveryCodes } from "./AppSetUp.tsx";
import { PasskeySetUp } from "./PasskeySetUp.tsx";
import { canUsePasskeys, removePasskey } from "./passkeys.ts";

type Task = "overview" | "set-up" | "renew" | "remove" | "passkey" | "remove-passkey";

const titles: Record<Task, string> = {
  overview: "Two-factor authentication",
  "set-up": "Set up an authenticator app",
  renew: "Create new recovery codes",
  remove: "Remove the authenticator app",
  passkey: "Add a passkey",
  "remove-passkey": "Remove the passkey",
};

// A person's own second factors.
export function SecurityDialog({ onClose }: { onClose: () => void }) {
  const { session, csrfToken } = useWorkspace();
  const cache = useQueryClient();
  const factors = useQuery({ queryKey: ["auth", "factors"], queryFn: readFactors });
  const [task, setTask] = useState<Task>("overview");
  const [chosen, setChosen] = useState<Passkey | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const { email } = session.user;
  const back = () => {
    setTask("overview");
    setCodes(null);
    void cache.invalidateQueries({ queryKey: ["auth", "factors"] });
    void cache.invalidateQueries({ queryKey: ["users"] });
  };
  const show = (made: string[]) => {
    back();
    if (made.length > 0) setCodes(made);
  };
  const remove = async (password: string) => {
    await removeApp(password, csrfToken());
    toast({ kind: "done", words: "The authenticator app was removed." });
    back();
  };
  const choose = (next: Task, passkey: Passkey | null = null) => {
    setChosen(passkey);
    setTask(next);
  };
  const isOverview = task === "overview" && !codes;
  return (
    // The codes are shown only once, so a stray key must not close the dialog.
    <Dialog
      title={codes ? "Recovery codes" : titles[task]}
      width={isOverview ? "medium" : "small"}
      onClose={onClose}
      isBusy={codes !== null}
    >
      {codes && <RecoveryCodes codes={codes} onDone={back} />}
      {isOverview && factors.isLoading && <Loading lines={3} name="Loading" />}
      {isOverview && factors.isError && <Trouble error={factors.error} onRetry={() => void factors.refetch()} />}
      {isOverview && factors.data && <Overview factors={factors.data} onChoose={choose} />}
      {task === "set-up" && <AppSetUp email={email} csrfToken={csrfToken} onDone={show} />}
      {task === "renew" && (
        <PasswordStep
          email={email}
          act="Create new codes"
          actBusy="Creating…"
          run={async (password) => show(await renewCodes(password, csrfToken()))}
        >
          <p className="text-sm text-soft">You get ten new codes. The earlier ones stop working.</p>
        </PasswordStep>
      )}
      {task === "remove" && (
        <PasswordStep email={email} act="Remove" actBusy="Removing…" run={remove}>
          <p className="text-sm text-soft">
            The app’s codes stop working. Without another second factor, your password alone is enough to sign in.
          </p>
        </PasswordStep>
      )}
      {task === "passkey" && <PasskeySetUp email={email} csrfToken={csrfToken} onDone={show} />}
      {task === "remove-passkey" && chosen && (
        <PasskeyRemoval email={email} passkey={chosen} csrfToken={csrfToken} onDone={back} />
      )}
    </Dialog>
  );
}

type RemovalProps = { email: string; passkey: Passkey; csrfToken: () => string; onDone: () => void };

function PasskeyRemoval({ email, passkey: { passkey_id, name }, csrfToken, onDone }: RemovalProps) {
  const remove = async (password: string) => {
    await removePasskey({ passkey_id, password }, csrfToken());
    toast({ kind: "done", words: `The passkey ${name} was removed.` });
    onDone();
  };
  return (
    <PasswordStep email={email} act="Remove" actBusy="Removing…" run={remove}>
      <p className="text-sm text-soft">
        You can no longer sign in with <strong className="font-medium text-ink">{name}</strong>. Your device may still offer it
        until you delete it there.
      </p>
    </PasswordStep>
  );
}

type Choose = (task: Task, passkey?: Passkey) => void;

function Overview({ factors, onChoose }: { factors: Factors; onChoose: Choose }) {
  const { totp, passkeys, recovery_codes_left: left, is_required } = factors;
  const hasAny = totp !== null || passkeys.length > 0;
  const mayRemove = !is_required || (totp !== null ? 1 : 0) + passkeys.length > 1;
  const mayAddPasskey = factors.can_add_passkeys && canUsePasskeys();
  return (
    <div className="grid gap-3 text-sm">
      {!hasAny && <p className="text-soft">With a second factor, somebody who learns your password still cannot sign in.</p>}
      {hasAny && is_required && <p className="text-soft">Your tenant requires a second factor.</p>}
      <Part name="Authenticator app" says={totp ? <Added at={totp.added_at} /> : "Codes from an app on your phone"}>
        <Button look={hasAny ? "plain" : "primary"} onClick={() => onChoose("set-up")} autoFocus>
          {totp ? "Replace" : "Set up"}
        </Button>
        {totp && mayRemove && <Button onClick={() => onChoose("remove")}>Remove</Button>}
      </Part>
      {passkeys.map((passkey) => (
        <Part key={passkey.passkey_id} name={passkey.name} says={<PasskeyWords {...passkey} />}>
          {mayRemove && (
            <Button aria-label={`Remove the passkey ${passkey.name}`} onClick={() => onChoose("remove-passkey", passkey)}>
              Remove
            </Button>
          )}
        </Part>
      ))}
      {mayAddPasskey && (
        <Part name="Passkey" says="Fingerprint, face or PIN instead of a password">
          <Button onClick={() => onChoose("passkey")}>Add a passkey</Button>
        </Part>
      )}
      {hasAny && (
        <Part name="Recovery codes" says={left === 0 ? "None left" : `${left} left`}>
          <Button onClick={() => onChoose("renew")}>Create new codes</Button>
        </Part>
      )}
    </div>
  );
}

function Added({ at }: { at: string }) {
  return (
    <>
      Added <Moment at={at} />
    </>
  );
}

function PasskeyWords({ created_at, last_used_at }: Passkey) {
  if (last_used_at === null) return <>Passkey, not used yet</>;
  return (
    <>
      Passkey, added <Moment at={created_at} />, last used <Moment at={last_used_at} />
    </>
  );
}

function Part({ name, says, children }: { name: string; says: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-wrap items-center gap-2 rounded-lg border border-line p-3">
      <div className="mr-auto">
        <h3 className="font-medium">{name}</h3>
        <p className="text-xs text-soft">{says}</p>
      </div>
      {children}
    </section>
  );
}
