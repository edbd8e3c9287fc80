import type { LinkTable } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Unlink } from "lucide-react";
import { Suspense, lazy, useEffect, useMemo, useRef, type RefObject } from "react";
import { linkQueriesOf } from "../../data/link-queries.ts";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { Empty, Loading, Stale, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { LinkBar } from "./LinkBar.tsx";
import { LinkTableGrid } from "./LinkTable.tsx";
import { Pane } from "./Pane.tsx";
import { useLinkFocus } from "./focus.ts";
import { graphOfRows, rowsOf } from "./rows.ts";
import type { LinksSearch } from "./search.ts";

const Graph = lazy(async () => ({ default: (await import("./Graph.tsx")).Graph }));

export function LinksScreen() {
  const { may } = useWorkspace();
  const search = useSearch({ from: "/inside/links" });
  const input = useRef<HTMLInputElement>(null);
  const { account, cases } = search;
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Links</h1>
      <LinkBar search={search} input={input} />
      {may("read:enduseraccounts") ? (
        <Links key={JSON.stringify([account, cases])} search={search} input={input} />
      ) : (
        <NotAvailable what="The links screen" />
      )}
    </div>
  );
}

type LinksProps = { search: LinksSearch; input: RefObject<HTMLInputElement | null> };

function Links({ search, input }: LinksProps) {
  const { client } = useWorkspace();
  const queries = useMemo(() => linkQueriesOf(client), [client]);
  const { account, cases } = search;
  const read = useQuery(queries.links({ ...(account !== undefined && { account }), ...(cases !== undefined && { cases }) }));
  if (read.isPending) return <Loading lines={12} name="Loading the links" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <LinksView table={read.data} search={search} input={input} />
    </>
  );
}

function LinksView({ table, search, input }: LinksProps & { table: LinkTable }) {
  const { kind, view } = search;
  const isGraph = view === "graph";
  const rows = useMemo(() => rowsOf(table, kind), [table, kind]);
  const graph = useMemo(() => graphOfRows(table, rows), [table, rows]);
  const nodeIds = useMemo(() => new Set(isGraph ? graph.nodes.map((node) => node.node_id) : []), [graph, isGraph]);
  const { focusedId, focus, move } = useLinkFocus(rows, nodeIds);
  const grid = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLElement>(null);
  const enter = () => pane.current?.querySelector<HTMLElement>("a, button")?.focus();
  const leave = () => {
    if (grid.current) grid.current.focus();
    else if (focusedId !== null) document.getElementById(`node-${focusedId}`)?.focus();
  };
  useLinkKeys({ onMove: move, onEnter: enter, onLeave: leave, onFind: () => input.current?.focus() });
  if (rows.length === 0) return <Nothing search={search} />;
  return (
    <>
      {table.is_cut && (
        <p role="status" className="border-b border-line bg-warn-soft px-4 py-1.5 text-xs text-warn">
          Not everything is shown: at most the 100 most suspicious devices and addresses, 20 accounts of each, and 200 nodes in
          the graph. The pane on the right lists all accounts of the selected one.
        </p>
      )}
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        {isGraph ? (
          <Suspense
            fallback={
              <div className="flex-1">
                <Loading name="Loading the graph" />
              </div>
            }
          >
            <Graph graph={graph} focusedId={focusedId} onFocus={focus} onEnter={enter} />
          </Suspense>
        ) : (
          <LinkTableGrid rows={rows} focusedId={focusedId} grid={grid} onFocus={focus} onEnter={enter} />
        )}
        <Pane table={table} rows={rows} focusedId={focusedId} pane={pane} onFocus={focus} />
      </div>
    </>
  );
}

function Nothing({ search: { account, cases, kind } }: { search: LinksSearch }) {
  const what = kind === "device" ? "device" : kind === "ip" ? "address" : "device or address";
  const words =
    account !== undefined
      ? `Account ${account} shares no ${what} with another account.`
      : cases !== undefined
        ? `The accounts of these cases share no ${what} with another account.`
        : `No account with an open case shares any ${what} with another account.`;
  return (
    <Empty title="Nothing is shared" icon={<Unlink size={20} aria-hidden />}>
      <p className="[overflow-wrap:anywhere]">{words}</p>
    </Empty>
  );
}

type Acts = { onMove: (step: number) => void; onEnter: () => void; onLeave: () => void; onFind: () => void };

function useLinkKeys(acts: Acts): void {
  const navigate = useNavigate({ from: "/links" });
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  const group = "Links";
  const bindings = useMemo<Binding[]>(
    () => [
      { key: "j", name: "Next device or address", group, run: () => latest.current.onMove(1) },
      { key: "k", name: "Previous device or address", group, run: () => latest.current.onMove(-1) },
      { key: "ArrowDown", shown: "↓", name: "Next device or address", group, run: () => latest.current.onMove(1) },
      { key: "ArrowUp", shown: "↑", name: "Previous device or address", group, run: () => latest.current.onMove(-1) },
      { key: "Enter", name: "Go to its accounts", group, run: () => latest.current.onEnter() },
      { key: "Escape", shown: "Esc", name: "Back to the table or the graph", group, run: () => latest.current.onLeave() },
      { key: "/", name: "Links around an account", group, run: () => latest.current.onFind() },
      {
        key: "g",
        name: "Table or graph",
        group,
        run: () =>
          void navigate({
            search: ({ view, ...rest }) => ({ ...rest, ...(view !== "graph" && { view: "graph" as const }) }),
            replace: true,
          }),
      },
    ],
    [navigate],
  );
  useKeys(bindings);
}
