import type { QueryClient } from "@tanstack/react-query";
import type { Case, CaseDigest, EndUserAccount } from "@casehound/client";
import { openClient, openDesk } from "../data/client.ts";
import { LiveStream, type LiveEvent } from "../data/live.ts";
import { queriesOf } from "../data/queries.ts";
import { soon } from "../data/soon.ts";
import { flagFacts } from "../parts/Badges.tsx";
import { offerUndo } from "../parts/offers.ts";
import { toast } from "../parts/Toasts.tsx";
import type { Desk } from "../changes/desk.ts";
import { FlagBoard, type FlagChange, type Flags } from "../changes/flags.ts";
import { keepSignedIn, type SessionKeeper } from "./keeper.ts";
import { signOut, signOutEverywhere } from "./session.ts";
import type { Workspace } from "./workspace.tsx";

// The keeper holds the current session, because signing in again changes the CSRF token.
export function openWorkspace(keeper: SessionKeeper, cache: QueryClient, onLeave: () => void): Workspace {
  const session = keeper.current();
  const token = () => keeper.current().csrf_token;
  const client = keepSignedIn(openClient(session.tenant.slug, token), keeper);
  const desk = openDesk(client);
  const flags: FlagBoard = new FlagBoard(desk, {
    show: (id, believed) => showFlags(cache, id, believed),
    tell: (change) => tellFlag({ change, flags, cache, desk }),
    refuse: ({ flag, words }) => toast({ kind: "problem", words: `${flagFacts[flag].name} was not changed: ${words}` }),
  });
  const scopes = new Set(session.scopes);
  return {
    session,
    client,
    desk,
    flags,
    queries: queriesOf(client),
    live: new LiveStream({
      tenant: session.tenant.slug,
      userId: session.user.user_id,
      isAllowed: scopes.has("read:events"),
      guarded: [...(scopes.has("read:users") ? ["user" as const] : []), ...(scopes.has("read:models") ? ["model" as const] : [])],
      lastEventId: session.last_event_id,
    }),
    may: (scope) => scopes.has(scope),
    csrfToken: token,
    leave: async (from = "here") => {
      await (from === "everywhere" ? signOutEverywhere : signOut)(token());
      onLeave();
    },
  };
}

type FlagNotice = { change: FlagChange; flags: FlagBoard; cache: QueryClient; desk: Desk };

// The flags may be out of sight, so report the change and offer to undo it.
function tellFlag({ change, flags, cache, desk }: FlagNotice): void {
  const { websiteAccountId: id, flag, value, isUndo } = change;
  const words = flagFacts[flag].changed(id, value);
  const about = `${flag} ${id}`;
  if (isUndo) return void toast({ kind: "done", words });
  const undo = async () => {
    const account = await soon(cache.ensureQueryData(queriesOf(desk.client).account(id)));
    if (account) await flags.putBack(account, { flag, value: !value });
    else toast({ kind: "problem", words: "Not undone: the account could not be loaded." });
  };
  offerUndo(desk, { about, words, undo: () => void undo() });
}

// Four places show an account's flags. All of them are updated at once.
function showFlags(cache: QueryClient, websiteAccountId: string, flags: Flags): void {
  cache.setQueryData<EndUserAccount>(["account", websiteAccountId], (known) => known && { ...known, ...flags });
  cache.setQueriesData<Case>({ queryKey: ["case"] }, (known) =>
    known?.website_account_id === websiteAccountId ? { ...known, end_user_is_blocked: flags.is_blocked } : known,
  );
  cache.setQueriesData<CaseDigest | null>({ queryKey: ["digest", websiteAccountId] }, (known) => known && { ...known, ...flags });
}

const countMs = 1000;
const counting = new WeakMap<QueryClient, ReturnType<typeof setTimeout>>();

// Reads the counts at most once a second, however many events arrive.
function countSoon(cache: QueryClient): void {
  if (counting.has(cache)) return;
  const count = () => {
    counting.delete(cache);
    void cache.invalidateQueries({ queryKey: ["cases", "count"] });
  };
  counting.set(cache, setTimeout(count, countMs));
}

// Reads again what a live event has made stale and a screen shows. Lists are not reread, because rows must not move under a
// person.
export function refreshOn(event: LiveEvent, cache: QueryClient): void {
  const { type, id } = event.resource;
  if (type === "case") {
    void cache.invalidateQueries({ queryKey: ["case", id] });
    void cache.invalidateQueries({ predicate: ({ queryKey: [noun, , caseId] }) => noun === "digest" && caseId === id });
    countSoon(cache);
  }
  if (type === "end_user_account") {
    void cache.invalidateQueries({ queryKey: ["account", id] });
    void cache.invalidateQueries({ queryKey: ["digest", id] });
    countSoon(cache);
  }
  if (type === "user") void cache.invalidateQueries({ queryKey: ["users"] });
  // Thresholds belong to the tenant.
  if (type === "rule" || type === "tenant") void cache.invalidateQueries({ queryKey: ["rules"] });
  if (event.type.startsWith("model.")) void cache.invalidateQueries({ queryKey: ["models"] });
  if (event.type === "thresholds.updated") void cache.invalidateQueries({ queryKey: ["thresholds"] });
}
