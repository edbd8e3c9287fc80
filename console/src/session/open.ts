import type { Query, QueryClient } from "@tanstack/react-query";
import type { Case, CaseDigest, CaseMember, EndUserAccount } from "@casehound/client";
import { requestApproval, requestedWords } from "../approving/requesting.ts";
import { openClient, openDesk } from "../data/client.ts";
import { LiveStream, type LiveEvent } from "../data/live.ts";
import { queriesOf } from "../data/queries.ts";
import { soon } from "../data/soon.ts";
import { flagFacts } from "../parts/Badges.tsx";
import { offerUndo } from "../parts/offers.ts";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import type { Desk } from "../changes/desk.ts";
import { FlagBoard, type FlagChange, type FlagRefusal, type Flags } from "../changes/flags.ts";
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
    refuse: (refusal) => tellRefusal(refusal, desk),
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
      guarded: (["user", "model", "list", "approval"] as const).filter((noun) =>
        scopes.has(noun === "approval" ? "read:case" : `read:${noun}s`),
      ),
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

// If blocking the account needs a second person, the toast offers to request approval.
function tellRefusal({ websiteAccountId, flag, words, needsApproval }: FlagRefusal, desk: Desk): void {
  const { name } = flagFacts[flag];
  if (!needsApproval) return void toast({ kind: "problem", words: `${name} was not changed: ${words}` });
  const ask = () => {
    requestApproval(desk, { website_account_id: websiteAccountId, account: { [flag]: true } })
      .then(() => toast({ kind: "done", words: requestedWords }))
      .catch((error: unknown) => toast({ kind: "problem", words: `Approval was not requested: ${wordsOf(error)}` }));
  };
  const action = { name: "Request approval", run: ask };
  toast({ kind: "problem", words: `${name} was not changed: a second person must approve it.`, action });
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

const staleLists = new WeakSet<QueryClient>();

// Reads the lists of values at most once a second, because an import makes many events. A preview takes seconds and stays.
function readListsSoon(cache: QueryClient): void {
  if (staleLists.has(cache)) return;
  staleLists.add(cache);
  setTimeout(() => {
    staleLists.delete(cache);
    void cache.invalidateQueries({ predicate: ({ queryKey: [noun, part] }) => noun === "lists" && part !== "preview" });
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
    if (event.data?.["mentions"] !== undefined) void cache.invalidateQueries({ queryKey: ["inbox"] });
  }
  if (type === "end_user_account") {
    void cache.invalidateQueries({ queryKey: ["account", id] });
    void cache.invalidateQueries({ queryKey: ["digest", id] });
    readSoon(cache);
  }
  if (type === "view") void cache.invalidateQueries({ queryKey: ["views"] });
  if (type === "approval") {
    for (const key of [["approvals"], ["inbox"], ["cases", "count"]]) void cache.invalidateQueries({ queryKey: key });
  }
  if (type === "user") void cache.invalidateQueries({ queryKey: ["users"] });
  // Thresholds belong to the tenant.
  if (type === "rule" || type === "tenant") void cache.invalidateQueries({ queryKey: ["rules"] });
  // So do the reason templates, the own dispositions and the due times.
  if (type === "tenant") void cache.invalidateQueries({ queryKey: ["closing"] });
  if (type === "tenant") void cache.invalidateQueries({ queryKey: ["due-times"] });
  // Rules and the policy use lists.
  if (type === "list" || type === "rule" || event.type === "policy.updated") readListsSoon(cache);
  if (event.type.startsWith("model.")) void cache.invalidateQueries({ queryKey: ["models"] });
  if (event.type === "policy.updated") void cache.invalidateQueries({ queryKey: ["policy"] });
  if (event.type === "thresholds.updated") void cache.invalidateQueries({ queryKey: ["thresholds"] });
}
