import type { CaseListItem } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useWorkspace } from "../../session/workspace.tsx";

// A key held down moves the focus thirty times a second. Browsers allow far fewer address changes.
const addressMs = 300;
const restMs = 100;

// The row that the keys act on. The focus belongs to the case and not to a position, so changes to the list do not move it.
export function useFocus(rows: CaseListItem[]) {
  const { case: named } = useSearch({ from: "/inside/" });
  const navigate = useNavigate({ from: "/" });
  const router = useRouter();
  const [wantedId, setWanted] = useState<string | null>(named ?? null);
  const isThere = rows.some((row) => row.case_id === wantedId);
  // If the case has left the list, focus the row that is now in its place.
  const place = useRef(0);
  const fallback = rows[Math.min(place.current, rows.length - 1)]?.case_id ?? null;
  const focusedId = isThere ? wantedId : fallback;
  const latest = useRef({ rows, focusedId });
  useEffect(() => {
    latest.current = { rows, focusedId };
    const at = rows.findIndex((row) => row.case_id === focusedId);
    if (at >= 0) place.current = at;
  });
  // Fix the focus on the first row too, so a row that arrives above it does not take the focus.
  useEffect(() => {
    if (wantedId === null) setWanted(focusedId);
  }, [wantedId, focusedId]);

  useEffect(() => {
    if (focusedId === null || focusedId === named) return undefined;
    const timer = setTimeout(() => {
      // Do not replace the address during a navigation to another screen, because that would cancel it.
      if (router.latestLocation.pathname !== "/") return;
      void navigate({ search: (search) => ({ ...search, case: focusedId }), replace: true });
    }, addressMs);
    return () => clearTimeout(timer);
  }, [focusedId, named, navigate, router]);

  const move = useCallback((step: number) => {
    const { rows: all, focusedId: from } = latest.current;
    const at = all.findIndex((row) => row.case_id === from);
    const next = all[at + step];
    if (next) setWanted(next.case_id);
  }, []);
  return { focusedId, focus: setWanted, move };
}

// Reads the cases around a resting focus, so the peek pane can show the next one at once.
export function useNeighbours(rows: CaseListItem[], focusedId: string | null): void {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const at = rows.findIndex((row) => row.case_id === focusedId);
  const before = rows[at - 1]?.case_id;
  const after = rows[at + 1]?.case_id;
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const id of [after, before]) if (id !== undefined) void cache.prefetchQuery(queries.case(id));
    }, restMs);
    return () => clearTimeout(timer);
  }, [before, after, queries, cache]);
}
