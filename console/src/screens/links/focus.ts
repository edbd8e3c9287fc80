import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import type { LinkRow } from "./rows.ts";

// Browsers limit how often the address may change, and a key that is held down exceeds that.
const addressMs = 300;

// The item that the pane describes. `j` and `k` move from row to row, also in the graph, where an account can have the focus too.
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
    // From an account in the graph, return to the last row.
    const next = all.some((row) => row.id === from) ? all[place + step] : all[place];
    if (next) focus(next.id);
  }, []);
  return { focusedId, focus, move };
}
