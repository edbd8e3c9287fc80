import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Trouble } from "../parts/States.tsx";
import { clearToasts } from "../parts/Toasts.tsx";
import { SignInForm } from "../screens/sign-in/SignInForm.tsx";
import { SignInScreen } from "../screens/sign-in/SignInScreen.tsx";
import { AddFactor } from "../security/AddFactor.tsx";
import { takeSession } from "./early.ts";
import { SessionKeeper, isSamePerson } from "./keeper.ts";
import { rememberTenant } from "./last-tenant.ts";
import { openWorkspace, refreshOn } from "./open.ts";
import { readSession, type Session } from "./session.ts";
import { WorkspaceContext, type Workspace } from "./workspace.tsx";

type State =
  | { kind: "unknown" }
  | { kind: "none" }
  | { kind: "adding" }
  | { kind: "failed"; error: unknown }
  | { kind: "open"; desk: Open };
type Open = { keeper: SessionKeeper; workspace: Workspace };

const ownerName = "casehound.owner";

// Nothing of the console is shown without a session. If the session ends while a person works, a dialog on top renews it, so no
// draft is lost.
export function SessionGate({ children, onOpen }: { children: ReactNode; onOpen: (workspace: Workspace) => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [state, setState] = useState<State>({ kind: "unknown" });
  const [isExpired, setExpired] = useState(false);
  // The session of a person who must add a second factor before anything else.
  const [adding, setAdding] = useState<Session | null>(null);
  const current = useRef<Open | null>(null);

  function enter(session: Session): void {
    const known = current.current;
    setExpired(false);
    setAdding(session.must_add_second_factor ? session : null);
    if (session.must_add_second_factor) return known ? undefined : setState({ kind: "adding" });
    if (known && isSamePerson(known.keeper.current(), session)) {
      known.keeper.renew(session);
      return void cache.invalidateQueries();
    }
    known?.keeper.giveUp();
    cache.clear();
    clearToasts();
    claimDrafts(session);
    rememberTenant(session.tenant.slug);
    const keeper = new SessionKeeper(session, { onLost: () => setExpired(true), onOther: enter });
    current.current = { keeper, workspace: openWorkspace(keeper, cache, leave) };
    onOpen(current.current.workspace);
    setState({ kind: "open", desk: current.current });
  }

  function leave(): void {
    current.current?.keeper.giveUp();
    current.current = null;
    cache.clear();
    clearToasts();
    sessionStorage.clear();
    setExpired(false);
    setAdding(null);
    setState({ kind: "none" });
    // Clear the address, so the next person does not see what this one looked at.
    void navigate({ to: "/", search: {}, replace: true });
  }

  function look(): void {
    takeSession().then(
      (session) => (session ? enter(session) : setState({ kind: "none" })),
      (error: unknown) => setState({ kind: "failed", error }),
    );
  }

  // oxlint-disable-next-line react-hooks/exhaustive-deps -- Runs once, at the start.
  useEffect(look, []);
  useLive(state.kind === "open" ? state.desk : null);

  if (state.kind === "unknown") return null;
  if (state.kind === "failed") return <Trouble isScreen error={state.error} onRetry={look} />;
  if (state.kind === "none") return <SignInScreen onSignedIn={enter} />;
  const add = adding && <AddFactor session={adding} isOnTop={state.kind === "open"} onDone={look} onLeave={leave} />;
  if (state.kind === "adding") return add;
  const { keeper, workspace } = state.desk;
  return (
    <WorkspaceContext value={workspace}>
      {children}
      {add}
      {isExpired && <SignInAgain keeper={keeper} onSignedIn={enter} onLeave={leave} />}
    </WorkspaceContext>
  );
}

// One person's drafts must not be shown to another.
function claimDrafts({ user }: Session): void {
  if (sessionStorage.getItem(ownerName) !== user.user_id) sessionStorage.clear();
  sessionStorage.setItem(ownerName, user.user_id);
}

type Again = { keeper: SessionKeeper; onSignedIn: (session: Session) => void; onLeave: () => void };

// The dialog cannot be dismissed, because the page behind it requires a session.
function SignInAgain({ keeper, onSignedIn, onLeave }: Again) {
  const { user, tenant } = keeper.current();
  // If the person has signed in again in another tab, this tab continues by itself.
  useEffect(() => {
    const look = () =>
      void readSession().then(
        (session) => session && onSignedIn(session),
        () => {},
      );
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [onSignedIn]);
  return (
    <Dialog title="Your session has ended" width="small">
      <p className="mb-4 text-sm text-soft">
        Sign in again to continue. What you have written is still here, and unsaved changes are sent after you sign in.
      </p>
      <SignInForm onSignedIn={onSignedIn} known={{ email: user.email, tenant: tenant.slug }} />
      <Button look="quiet" className="mt-3 w-full" onClick={onLeave}>
        I am somebody else: discard the drafts
      </Button>
    </Dialog>
  );
}

function useLive(desk: Open | null): void {
  const cache = useQueryClient();
  useEffect(() => {
    if (!desk) return undefined;
    const { workspace, keeper } = desk;
    const { live } = workspace;
    const stops = [
      live.onEvent((event) => refreshOn(event, cache)),
      live.onReset(() => void cache.invalidateQueries()),
      // A stream does not report why it was rejected, so check the session. If the service does not answer, nothing is known.
      live.subscribe(() => void (live.state() === "lost" && keeper.check().catch(() => {}))),
      live.subscribe(() => void (live.state() === "live" && readFailed(cache))),
      live.open(),
    ];
    const wake = () => workspace.desk.outbox.wake();
    window.addEventListener("online", wake);
    return () => {
      window.removeEventListener("online", wake);
      for (const stop of stops) stop();
    };
  }, [desk, cache]);
}

// What could not be read while the service was out of reach is read when it is back, so nobody has to press "Try again".
function readFailed(cache: QueryClient): Promise<void> {
  return cache.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
}
