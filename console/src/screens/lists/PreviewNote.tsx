import type { List } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, type ReactNode } from "react";
import { wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useListQueries } from "./queries.ts";
import { detailWords, hitWords } from "./words.ts";

// Says what a value would have hit, before it is added.
export function PreviewNote({ list, value }: { list: Pick<List, "name" | "kind" | "type">; value: string }) {
  const { may } = useWorkspace();
  const mayRead = may("read:enduseraccounts");
  const wanted = useDeferredValue(value.trim());
  const isAsked = mayRead && wanted !== "" && list.type !== "text";
  const read = useQuery({ ...useListQueries().preview(list.name, wanted), enabled: isAsked });
  if (!mayRead) return <Note>Only people who may read accounts see what a value would have hit.</Note>;
  if (list.type === "text") return <Note>A list of texts hits nothing by itself. Rules look it up.</Note>;
  if (wanted === "") return <Note>Type a value to see what it would have hit in the last 30 days.</Note>;
  if (read.isPending) return <Note>Searching the last 30 days ...</Note>;
  if (read.isError) return <Note>{wordsOf(read.error)}</Note>;
  const details = detailWords(read.data, list.kind);
  return (
    <Note>
      <strong className="font-medium text-ink">{hitWords(read.data)}</strong>
      {details.length > 0 && (
        <ul className="mt-1 list-disc pl-4">
          {details.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </Note>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <div role="status" aria-label="What it would have hit" className="rounded-md bg-sunken px-3 py-2 text-sm text-soft">
      {children}
    </div>
  );
}
