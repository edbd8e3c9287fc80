import { useQueryClient } from "@tanstack/react-query";
import { ProblemError } from "@casehound/client";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Dialog } from "../parts/Dialog.tsx";
import { Trouble } from "../parts/States.tsx";
import { SignInForm } from "../screens/sign-in/SignInForm.tsx";
import { SignInScreen } from "../screens/sign-in/SignInScreen.tsx";
import { openWorkspace, refreshOn } from "./open.ts";
import { readSession, type Session } from "./session.ts";
import { WorkspaceContext, type Workspace } from "./workspace.tsx";

type State = { kind: "unknown" } | { kind: "none" } | { kind: "failed"; error: unknown } | { kind: "open"; session: Session };

// Nothing of the console is shown without a session. One that ends while a person works is renewed in a dialog on top, so that
// no draft is lost.
export function SessionGate({ children }: { children: ReactNode }) {
  const cache = useQueryClient();
  const [state, setState] = useState<State>({ kind: "unknown" });
  const [isExpired, setExpired] = useState(false);
  const [workspace, setWorkspace] = useState<Workspace | null>(null);
  const current = useRef<Session | null>(null);

  function enter(session: Session): void {
    const isSame =
      workspace?.session.user.user_id === session.user.user_id && workspace.session.tenant.slug === session.tenant.slug;
    current.current = session;
    setExpired(false);
    setState({ kind: "open", session });
    if (isSame) return void cache.invalidateQueries();
    cache.clear();
    setWorkspace(openWorkspace(() => current.current ?? session, cache, leave));
  }

  function leave(): void {
    cache.clear();
    setWorkspace(null);
    setState({ kind: "none" });
  }

  function look(): void {
    readSession().then(
      (session) => (session ? enter(session) : setState({ kind: "none" })),
      (error: unknown) => setState({ kind: "failed", error }),
    );
  }

  // oxlint-disable-next-line react-hooks/exhaustive-deps -- Once, at the start.
  useEffect(look, []);
  useEffect(
    () =>
      cache.getQueryCache().subscribe(({ query }) => {
        if (query.state.error instanceof ProblemError && query.state.error.status === 401) setExpired(true);
      }),
    [cache],
  );
  useLive(workspace);

  if (state.kind === "unknown") return null;
  if (state.kind === "failed") return <Trouble isScreen error={state.error} onRetry={look} />;
  if (state.kind === "none" || !workspace) return <SignInScreen onSignedIn={enter} />;
  return (
    <WorkspaceContext value={workspace}>
      {children}
      {isExpired && (
        <Dialog title="Your session has ended" onClose={() => setExpired(false)} width="small">
          <p className="mb-4 text-sm text-soft">Sign in again to go on. What you have written is still here.</p>
          <SignInForm onSignedIn={enter} email={state.session.user.email} />
        </Dialog>
      )}
    </WorkspaceContext>
  );
}

function useLive(workspace: Workspace | null): void {
  const cache = useQueryClient();
  useEffect(() => {
    if (!workspace) return undefined;
    const stops = [
      workspace.live.onEvent((event) => refreshOn(event, cache)),
      workspace.live.onReset(() => void cache.invalidateQueries()),
      workspace.live.open(),
    ];
    const wake = () => workspace.desk.outbox.wake();
    window.addEventListener("online", wake);
    return () => {
      window.removeEventListener("online", wake);
      for (const stop of stops) stop();
    };
  }, [workspace, cache]);
}
