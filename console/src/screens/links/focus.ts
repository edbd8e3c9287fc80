import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import type { LinkRow } from "./rows.ts";

// Browsers allow far fewer changes of the address than a key that is held down makes.
const addressMs = 300;

// What the pane is about. `j` and `k` go from row to row, in the graph too; a node of the graph may also be an account.
export function useLinkFocus(rows: LinkRow[], nodeIds: ReadonlySet<string>) {
  const { at } = useSearch({ from: "/inside/links" });
  const navigate = useNavigate({ from: "/links" });
  const [wanted, focus] = useState<string | null>(at ?? null);
  const isThere = wanted !== null && (nodeIds.has(wanted) || rows.some((row) => row.id === wanted));
  const focusedId = isThere ? wanted : (rows[0]?.id ?? null);
  const latest = useRef({ rows, focusedId, place: 0 });
  useEffect(() => {
    const found = rows.findIndex((row) => row.id === focusedId);
    latest.current = { rows, focusedId, place: found >= 0 ? found : latest.current.place };
  });
  useEffect(() => {
    if (wanted === null || focusedId === null || focusedId === at) return undefined;
    const timer = setTimeout(
      () => void navigate({ search: (search) => ({ ...search, at: focusedId }), replace: true }),
      addressMs,
    );
    return () => clearTimeout(timer);
  }, [wanted, focusedId, at, navigate]);
  const move = useCallback((step: number) => {
    const { rows: all, place, focusedId: from } = latest.current;
    // From an account of the graph back to the row one came from.
    const next = all.some((row) => row.id === from) ? all[place + step] : all[place];
    if (next) focus(next.id);
  }, []);
  return { focusedId, focus, move };
}
