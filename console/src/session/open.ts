import type { Query, QueryClient } from "@tanstack/react-query";
import type { Case, CaseDigest, CaseMember, EndUserAccount } from "@casehound/client";
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

const waitMs = 1000;
const changedCases = new WeakMap<QueryClient, Set<string>>();

// Reads the counts, and the lists of accounts that name a changed case, at most once a second, however many events arrive.
function readSoon(cache: QueryClient, caseId?: string): void {
  const waiting = changedCases.get(cache);
  const changed = waiting ?? new Set();
  if (caseId !== undefined) changed.add(caseId);
  if (waiting) return;
  changedCases.set(cache, changed);
  setTimeout(() => {
    changedCases.delete(cache);
    void cache.invalidateQueries({ queryKey: ["cases", "count"] });
    void cache.invalidateQueries({ queryKey: ["case"], predicate: (query) => isMembersWith(query, changed) });
  }, waitMs);
}

type MemberPages = { pages: { members: CaseMember[] }[] };

function isMembersWith({ queryKey: [, , part], state }: Query, caseIds: ReadonlySet<string>): boolean {
  if (part !== "members") return false;
  // The cast is safe: only `queries.members` has this key.
  const { pages } = (state.data ?? { pages: [] }) as MemberPages;
  return pages.some(({ members }) => members.some(({ case_id: id }) => id !== undefined && caseIds.has(id)));
}

// Reads again what a live event has made stale and a screen shows. Lists are not reread, because rows must not move under a
// person.
export function refreshOn(event: LiveEvent, cache: QueryClient): void {
  const { type, id } = event.resource;
  if (type === "case") {
    void cache.invalidateQueries({ queryKey: ["case", id] });
    void cache.invalidateQueries({ predicate: ({ queryKey: [noun, , caseId] }) => noun === "digest" && caseId === id });
    readSoon(cache, id);
  }
  if (type === "end_user_account") {
    void cache.invalidateQueries({ queryKey: ["account", id] });
    void cache.invalidateQueries({ queryKey: ["digest", id] });
    readSoon(cache);
  }
  if (type === "user") void cache.invalidateQueries({ queryKey: ["users"] });
  // Thresholds belong to the tenant.
  if (type === "rule" || type === "tenant") void cache.invalidateQueries({ queryKey: ["rules"] });
  if (event.type.startsWith("model.")) void cache.invalidateQueries({ queryKey: ["models"] });
  if (event.type === "policy.updated") void cache.invalidateQueries({ queryKey: ["policy"] });
  if (event.type === "thresholds.updated") void cache.invalidateQueries({ queryKey: ["thresholds"] });
}
