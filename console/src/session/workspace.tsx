import { createContext, use } from "react";
import type { ConsoleClient } from "../data/client.ts";
import type { LiveStream } from "../data/live.ts";
import type { Queries } from "../data/queries.ts";
import type { Desk } from "../changes/desk.ts";
import type { FlagBoard } from "../changes/flags.ts";
import type { Session } from "./session.ts";

// Everything a signed-in person works with. Screens get it from `useWorkspace` and need nothing else.
export type Workspace = {
  session: Session;
  client: ConsoleClient;
  queries: Queries;
  desk: Desk;
  flags: FlagBoard;
  live: LiveStream;
  // Whether this person has the scope, as far as the console knows. The service decides.
  may: (scope: string) => boolean;
  csrfToken: () => string;
  leave: (from?: "here" | "everywhere") => Promise<void>;
};

export const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (!workspace) throw new Error("useWorkspace was called without a session.");
  return workspace;
}
