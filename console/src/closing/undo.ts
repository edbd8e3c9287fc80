import type { Case, CaseSubject } from "@casehound/client";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { soon } from "../data/soon.ts";
import { flagFacts, flagNames, outcomeInSentence } from "../parts/Badges.tsx";
import { offerUndo, withdrawUndo } from "../parts/offers.ts";
import { wordsOf } from "../parts/States.tsx";
import { subjectCaseName, subjectName } from "../parts/subject.ts";
import { dismissToast, toast } from "../parts/Toasts.tsx";
import { visible } from "../parts/visible.ts";
import { useWorkspace, type Workspace } from "../session/workspace.tsx";
import { reopenCase, type Desk, type ListWish, type Reopening, type Verdict } from "../changes/desk.ts";
import type { Flags } from "../changes/flags.ts";

// A case with the version that closing it produced.
export type ClosedCase = Pick<Case, "case_id" | "case_version" | "website_account_id"> & Partial<Pick<Case, "details">>;
type UndoContext = Pick<Workspace, "flags" | "queries"> & { desk: Desk; cache: QueryClient };
type Tried = { closed: ClosedCase; result: Reopening };

const atOnceMax = 4;
const namedMax = 10;

// Listeners of whichever screen is shown when cases are reopened.
const watchers = new Set<(found: Case[]) => void>();
// A second press must not report the first one as a colleague's change.
const underway = new Set<string>();

// Gives the case that the service just returned to every screen that shows it.
export function showCase(cache: QueryClient, found: Case): void {
  cache.setQueryData(["case", found.case_id], found);
  void cache.invalidateQueries({ queryKey: ["cases", "count"] });
}

export function tellClosedBefore(closed: Case): void {
  const { changed_by: by } = closed.current_state;
  toast({
    kind: "problem",
    words: `${by} already closed this case${outcomeWords(closed)}. Your outcome and reason were not saved.`,
  });
}

function nameOf({ website_account_id: account, details }: ClosedCase): string {
  return subjectCaseName(account, details?.subject);
}

function outcomeWords({ current_state: state }: Case): string {
  const outcome = outcomeInSentence(state);
  return outcome === undefined ? "" : ` as ${outcome}`;
}

export function useReopened(onReopened: (found: Case[]) => void): void {
  const latest = useRef(onReopened);
  useEffect(() => {
    latest.current = onReopened;
  });
  useEffect(() => {
    const watch = (found: Case[]) => latest.current(found);
    watchers.add(watch);
    return () => void watchers.delete(watch);
  }, []);
}

// All ways to reopen cases: undoing a recent close of one case or many, and reopening on purpose.
export function useReopening() {
  const { desk, flags, queries } = useWorkspace();
  const cache = useQueryClient();
  return useMemo(() => {
    const place: UndoContext = { desk, flags, queries, cache };
    return {
      offerOne: (closed: Case, { isForMembers = false, flags: changed = {}, listed = [] }: Partial<Verdict> = {}) => {
        const said = flagNames.flatMap((flag) => {
          const value = changed[flag];
          return value === undefined ? [] : [flagFacts[flag].changed(closed.website_account_id, value)];
        });
        if (said.length > 0) void cache.invalidateQueries({ queryKey: ["account", closed.website_account_id] });
        if (listed.length > 0) void cache.invalidateQueries({ queryKey: ["lists"] });
        const added = listed.map(({ entry: { value, list } }) => `Added ${visible(value)} to ${list}.`);
        const more = isForMembers ? ["The cases of its accounts are being closed too. Undo reopens only the attack's case."] : [];
        offerUndo(desk, {
          about: closed.case_id,
          words: [`Closed ${nameOf(closed)}${outcomeWords(closed)}.`, ...said, ...added, ...more].join(" "),
          undo: () => void undoClose(place, closed, { flags: changed, listed }),
        });
      },
      offerMany: (closed: readonly ClosedCase[]) =>
        offerUndo(desk, {
          about: closed.map(({ case_id }) => case_id).join(" "),
          words: `Closed ${countOf(closed.length)}.`,
          undo: () => void reopenMany(place, closed),
        }),
      reopen: (closed: Case) => void reopenOne(place, closed, false),
    };
  }, [desk, flags, queries, cache]);
}

type Acts = { flags: Partial<Flags>; listed: ListWish[] };

// Also puts back the flags that the close changed and removes the entries that it added, if the case could be reopened.
async function undoClose(place: UndoContext, closed: Case, { flags: changed, listed }: Acts): Promise<void> {
  if (!(await reopenOne(place, closed, true))) return;
  await removeListed(place, listed);
  if (Object.keys(changed).length === 0) return;
  const { website_account_id: id } = closed;
  const account = await soon(place.cache.fetchQuery({ ...place.queries.account(id), staleTime: 0 }));
  for (const flag of flagNames) {
    const value = changed[flag];
    if (account && value !== undefined) await place.flags.putBack(account, { flag, value: !value });
  }
}

// An entry that was on the list before the close stays there.
async function removeListed({ desk, cache }: UndoContext, listed: ListWish[]): Promise<void> {
  const added = listed.filter(({ isNew }) => isNew).map(({ entry }) => entry);
  const byList = Object.entries(Object.groupBy(added, ({ list }) => list));
  for (const [list, entries = []] of byList) {
    const call = { params: { list_name: list }, body: { values: entries.map(({ value }) => value) } };
    try {
      await desk.outbox.deliver("Removing list entries", () => desk.client.call("removeListEntries", call));
    } catch (error) {
      toast({ kind: "problem", words: `The entries added to the list ${list} were not removed: ${wordsOf(error)}` });
    }
  }
  if (added.length > 0) await cache.invalidateQueries({ queryKey: ["lists"] });
}

// Returns whether the case is open again.
async function reopenOne({ desk, cache }: UndoContext, closed: ClosedCase, isUndo: boolean): Promise<boolean> {
  if (underway.has(closed.case_id)) return false;
  const result = await attempt(desk, closed, isUndo);
  if (result.kind !== "refused") showCase(cache, result.found);
  if (result.kind !== "reopened") {
    const versions = result.kind === "changed" ? `: version ${closed.case_version} to ${result.found.case_version}` : "";
    toast({ kind: "problem", words: `${isUndo ? "Not undone" : "Not reopened"}: ${causeOf(result)}${versions}.` });
    return false;
  }
  tell([result.found]);
  toast({ kind: "done", words: `${capital(nameOf(closed))} is open again.` });
  return true;
}

// The API has no bulk reopen, so reopen a few at a time and report one combined result.
async function reopenMany(place: UndoContext, closed: readonly ClosedCase[]): Promise<void> {
  const { desk, cache } = place;
  const note = toast({ kind: "note", words: `Reopening ${countOf(closed.length)}…` });
  const left = [...closed];
  const tried: Tried[] = [];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift())
      tried.push({ closed: next, result: await attempt(desk, next, true) });
  };
  await Promise.all(Array.from({ length: atOnceMax }, work));
  for (const { result } of tried) if (result.kind !== "refused") showCase(cache, result.found);
  const reopened = closed.flatMap(({ case_id: id }) =>
    tried.flatMap(({ result }) => (result.kind === "reopened" && result.found.case_id === id ? [result.found] : [])),
  );
  if (reopened.length > 0) tell(reopened);
  dismissToast(note);
  if (reopened.length === closed.length) toast({ kind: "done", words: `Reopened ${countOf(reopened.length)}.` });
  else toast({ kind: "problem", words: `Reopened ${reopened.length} of ${countOf(closed.length)}. ${failuresOf(place, tried)}` });
}

async function attempt(desk: Desk, closed: ClosedCase, isUndo: boolean): Promise<Reopening> {
  underway.add(closed.case_id);
  try {
    const result = await reopenCase(desk, closed, isUndo ? "The close was undone." : undefined);
    // Withdraw any undo that is still offered for this close.
    if (result.kind === "reopened") withdrawUndo(desk, closed.case_id);
    return result;
  } catch (error) {
    return { kind: "refused", words: wordsOf(error) };
  } finally {
    underway.delete(closed.case_id);
  }
}

function tell(found: Case[]): void {
  for (const watch of watchers) watch(found);
}

function causeOf(result: Exclude<Reopening, { kind: "reopened" }>): string {
  if (result.kind === "refused") return result.words.replace(/\.$/, "");
  const { status, current_state: state } = result.found;
  const by = state.changed_by === "system" ? "Detection" : state.changed_by;
  return status === "OPEN" ? `${by} has already reopened it` : `${by} has changed it since`;
}

// A bulk close knows only the rows of the list. What such a case is about is in its digest, which the list and the dialog read.
function subjectOf({ cache, queries }: UndoContext, closed: ClosedCase): CaseSubject | undefined {
  return closed.details?.subject ?? cache.getQueryData(queries.digest(closed).queryKey)?.subject;
}

// Grouped by cause, because many failures often share one.
function failuresOf(place: UndoContext, tried: readonly Tried[]): string {
  const failed = tried.flatMap(({ closed, result }) =>
    result.kind === "reopened"
      ? []
      : [{ name: subjectName(closed.website_account_id, subjectOf(place, closed)), cause: causeOf(result) }],
  );
  const groups = Object.entries(Object.groupBy(failed, ({ cause }) => cause));
  return groups.map(([cause, own = []]) => `Not reopened: ${namesOf(own.map(({ name }) => name))} (${cause}).`).join(" ");
}

function namesOf(names: readonly string[]): string {
  const more = names.length - namedMax;
  return `${names.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function countOf(cases: number): string {
  return cases === 1 ? "1 case" : `${cases} cases`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
