import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useWorkspace } from "../session/workspace.tsx";

export function useNotes(caseId: string) {
  const { queries } = useWorkspace();
  const list = useInfiniteQuery(queries.notes(caseId));
  const notes = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.notes), [list.data]);
  return { list, notes };
}
