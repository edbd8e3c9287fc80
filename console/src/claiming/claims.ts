import { ProblemError, actorOf, type CaseClaim, type CaseDigest, type Claim } from "@casehound/client";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { soon } from "../data/soon.ts";
import { nameOfActor } from "../parts/Actor.tsx";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace, type Workspace } from "../session/workspace.tsx";

// Cases that this page has claimed without being asked to. They are released when the person leaves them.
const inPassing = new Set<string>();

// Shows a claim on every screen that shows the case.
function show(cache: QueryClient, caseId: string, claim: Claim | undefined): void {
  cache.setQueryData<CaseClaim>(["case", caseId, "claim"], { case_id: caseId, ...(claim && { claim }) });
  cache.setQueriesData<CaseDigest | null>(
    { predicate: ({ queryKey: [noun, , id] }) => noun === "digest" && id === caseId },
    (known) => {
      if (!known) return known;
      const { claim: _before, ...rest } = known;
      return { ...rest, ...(claim && { claim }) };
    },
  );
  void cache.invalidateQueries({ queryKey: ["cases", "count"] });
}

type Context = Pick<Workspace, "desk" | "queries"> & { cache: QueryClient; me: string };

// Returns whether the person has the claim now. A claim is not retried: by then, a colleague may work on the case.
async function send({ desk, cache }: Context, caseId: string, isTakeover: boolean): Promise<boolean> {
  const params = { case_id: caseId };
  try {
    const { claim } = await desk.client.call("claimCase", { params, body: { take_over: isTakeover } });
    show(cache, caseId, claim);
    return true;
  } catch (error) {
    const isHeld = error instanceof ProblemError && error.type === "item-already-exists";
    if (!isHeld) toast({ kind: "problem", words: `Not claimed: ${wordsOf(error)}` });
    void cache.invalidateQueries({ queryKey: ["case", caseId, "claim"] });
    return false;
  }
}

async function release({ desk, cache }: Context, caseId: string): Promise<void> {
  inPassing.delete(caseId);
  try {
    await desk.client.call("releaseCase", { params: { case_id: caseId } });
    show(cache, caseId, undefined);
  } catch (error) {
    toast({ kind: "problem", words: `Not released: ${wordsOf(error)}` });
  }
}

function read({ queries, cache }: Context, caseId: string): Promise<CaseClaim | null> {
  return soon(cache.fetchQuery({ ...queries.claim(caseId), staleTime: 0 }));
}

// Claims a free case, releases one's own, and asks before taking over a colleague's.
async function toggle(context: Context, caseId: string): Promise<void> {
  const found = await read(context, caseId);
  if (!found) return void toast({ kind: "problem", words: "Not claimed: the service did not answer." });
  const holder = found.claim?.claimed_by;
  if (holder === context.me) return release(context, caseId);
  inPassing.delete(caseId);
  if (holder === undefined && (await send(context, caseId, false))) return;
  const name = nameOfActor((await read(context, caseId))?.claim?.claimed_by ?? holder ?? "");
  if (name !== "") offerTakeover(context, caseId, name);
}

function offerTakeover(context: Context, caseId: string, name: string): void {
  const run = () => void send(context, caseId, true);
  toast({ kind: "note", words: `${name} is working on this case.`, action: { name: "Take over", run } });
}

// Claims a case because the person opened it. Says nothing if a colleague has it.
async function claimInPassing(context: Context, caseId: string): Promise<boolean> {
  const isClaimed = await send(context, caseId, false);
  if (isClaimed) inPassing.add(caseId);
  return isClaimed;
}

export function useClaims() {
  const { desk, queries, session } = useWorkspace();
  const cache = useQueryClient();
  return useMemo(() => {
    const context = { desk, queries, cache, me: actorOf(session.user) };
    return {
      me: context.me,
      toggle: (caseId: string) => void toggle(context, caseId),
      takeOver: (caseId: string) => void send(context, caseId, true),
      renew: (caseId: string) => void send(context, caseId, false),
      claimInPassing: (caseId: string) => claimInPassing(context, caseId),
      leave: (caseId: string) => {
        if (inPassing.has(caseId)) void release(context, caseId);
      },
    };
  }, [desk, queries, session, cache]);
}
