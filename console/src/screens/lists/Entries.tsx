import type { List, ListEntry } from "@casehound/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { Empty, Loading, Trouble, wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useListQueries } from "./queries.ts";

const dayOf = (time: string) => time.slice(0, 10);

export function Entries({ list }: { list: List }) {
  const [prefix, setPrefix] = useState("");
  const read = useInfiniteQuery(useListQueries().entries(list.name, prefix.trim()));
  const entries = read.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <div className="grid grid-cols-1 gap-3">
      <input
        type="search"
        aria-label="Find entries"
        placeholder="Find values that begin with ..."
        className={`${inputLook} max-w-80`}
        value={prefix}
        onChange={(event) => setPrefix(event.target.value)}
      />
      {read.isPending && <Loading lines={5} name="Loading the entries" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && entries.length === 0 && (
        <Empty title={prefix === "" ? "No entries yet" : "No entry begins like this"}>
          {prefix === "" && "Add a value, import a file, or press L on a case."}
        </Empty>
      )}
      {entries.length > 0 && <EntryTable list={list} entries={entries} />}
      {read.hasNextPage && (
        <Button className="justify-self-start" onClick={() => void read.fetchNextPage()} disabled={read.isFetchingNextPage}>
          Show more
        </Button>
      )}
    </div>
  );
}

function EntryTable({ list, entries }: { list: List; entries: ListEntry[] }) {
  const { may } = useWorkspace();
  const remove = useRemoving(list);
  return (
    <table className="w-full table-fixed text-left text-sm">
      <caption className="sr-only">The entries of {list.name}</caption>
      <thead className="border-b border-line text-xs text-faint">
        <tr>
          <th className="py-2 pr-3 font-medium">Value</th>
          <th className="w-28 py-2 max-sm:w-24 pr-3 font-medium">Expires</th>
          <th className="py-2 pr-3 font-medium max-sm:hidden">Reason</th>
          <th className="w-56 py-2 pr-3 font-medium max-sm:hidden">Added</th>
          <th className="w-10 py-2">
            <span className="sr-only">Remove</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.value} className="border-b border-line last:border-0">
            <td className="truncate py-1.5 pr-3 font-mono text-[13px]" title={entry.value}>
              {entry.value}
            </td>
            <td className={`py-1.5 pr-3 ${entry.is_expired ? "text-faint line-through" : "text-soft"}`}>
              {entry.expires_at === undefined ? "Never" : dayOf(entry.expires_at)}
            </td>
            <td className="truncate py-1.5 pr-3 text-soft max-sm:hidden" title={entry.reason}>
              {entry.reason}
              {entry.from_case_id !== undefined && (
                <Link className="ml-1 text-accent hover:underline" to="/cases/$caseId" params={{ caseId: entry.from_case_id }}>
                  the case
                </Link>
              )}
            </td>
            <td className="truncate py-1.5 pr-3 text-soft max-sm:hidden" title={entry.added_by}>
              <Age at={entry.added_at} suffix=" ago" /> by {nameOfActor(entry.added_by)}
            </td>
            <td className="py-1.5">
              {may("update:lists") && (
                <IconButton name={`Remove ${entry.value}`} onClick={() => void remove(entry)}>
                  <X size={14} aria-hidden />
                </IconButton>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Acts at once and can be undone.
function useRemoving(list: List): (entry: ListEntry) => Promise<void> {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const params = { list_name: list.name };
  const refresh = () => cache.invalidateQueries({ queryKey: ["lists"] });
  async function undo({ value, expires_at, reason, from_case_id }: ListEntry): Promise<void> {
    const again = { value, ...(expires_at && { expires_at }), ...(reason && { reason }), ...(from_case_id && { from_case_id }) };
    await client
      .call("addListEntries", { params, body: { entries: [again] } })
      .catch((error: unknown) => toast({ kind: "problem", words: `${value} was not added again. ${wordsOf(error)}` }));
    await refresh();
  }
  return async (entry) => {
    try {
      await client.call("removeListEntries", { params, body: { values: [entry.value] } });
      const action = { name: "Undo", run: () => void undo(entry) };
      toast({ kind: "done", words: `${entry.value} is no longer on ${list.name}.`, action });
    } catch (error) {
      toast({ kind: "problem", words: `${entry.value} was not removed. ${wordsOf(error)}` });
    }
    await refresh();
  };
}
