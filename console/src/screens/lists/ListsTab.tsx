import type { List } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ListPlus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { KindMark } from "./KindMark.tsx";
import { ListPanel } from "./ListPanel.tsx";
import { NewListDialog } from "./NewListDialog.tsx";
import { useListQueries } from "./queries.ts";
import { counted, typeNames } from "./words.ts";

export function ListsTab() {
  const { may } = useWorkspace();
  const { list: chosen } = useSearch({ from: "/inside/detection" });
  const navigate = useNavigate();
  const read = useQuery(useListQueries().all);
  const [isNew, setNew] = useState(false);
  const show = (name?: string) => void navigate({ to: "/detection", search: { tab: "lists", ...(name && { list: name }) } });
  const lists = read.data ?? [];
  // Keep the first list that was shown: a colleague may create a list that comes before it.
  const [first, setFirst] = useState<string>();
  if (first === undefined && lists[0]) setFirst(lists[0].name);
  const shown = lists.find(({ name }) => name === (chosen ?? first)) ?? (chosen === undefined ? lists[0] : undefined);
  const add = may("manage:lists") && (
    <Button onClick={() => setNew(true)}>
      <ListPlus size={15} aria-hidden /> New list
    </Button>
  );
  return (
    <div className="mx-auto max-w-[88rem] p-5">
      {read.isPending && <Loading lines={6} name="Loading the lists" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && lists.length === 0 && (
        <Empty title="No lists yet">
          <p>A list allows, blocks or watches values such as addresses, devices and e-mail domains.</p>
          <div className="mt-3 flex items-center justify-center gap-3">
            {add} <GuideLink page="lists" about="lists" />
          </div>
        </Empty>
      )}
      {lists.length > 0 && (
        <div className="grid grid-cols-[20rem_minmax(0,1fr)] items-start gap-4 max-[64rem]:grid-cols-1">
          <div className="grid grid-cols-1 gap-3">
            <div className="flex items-center justify-between">
              {add}
              <GuideLink page="lists" about="lists" />
            </div>
            <Choices lists={lists} chosen={shown?.name} />
          </div>
          {shown ? (
            <ListPanel key={shown.name} list={shown} onDeleted={() => show()} />
          ) : (
            <Empty title="There is no such list">It may have been deleted.</Empty>
          )}
        </div>
      )}
      {isNew && (
        <NewListDialog
          onClose={() => setNew(false)}
          onMade={(name) => {
            setNew(false);
            show(name);
          }}
        />
      )}
    </div>
  );
}

function Choices({ lists, chosen }: { lists: List[]; chosen: string | undefined }) {
  return (
    <nav aria-label="Lists" className="overflow-hidden rounded-lg border border-line bg-surface">
      {lists.map((list) => (
        <Link
          key={list.name}
          to="/detection"
          search={{ tab: "lists", list: list.name }}
          aria-current={list.name === chosen ? "page" : undefined}
          className={`block border-b border-line px-4 py-2.5 last:border-0 hover:bg-hover ${list.name === chosen ? "bg-sunken" : ""}`}
        >
          <span className="flex items-center justify-between gap-2">
            <span className="truncate text-sm font-medium">{list.name}</span>
            <KindMark kind={list.kind} />
          </span>
          <span className="text-xs text-faint">
            {typeNames[list.type]} · {counted(list.entries, "entry", "entries")} · {counted(list.hits_7d, "hit")} in 7 days
          </span>
        </Link>
      ))}
    </nav>
  );
}
