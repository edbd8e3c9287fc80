import type { Notice } from "@casehound/client";
import { useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useCallback } from "react";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Pages = InfiniteData<{ notices: Notice[]; next_cursor: string | null }, string>;

// Shows the entries as read at once. If the request fails, the inbox is reloaded.
export function useMarkRead(): (ids: string[]) => void {
  const { desk, queries } = useWorkspace();
  const cache = useQueryClient();
  return useCallback(
    (ids) => {
      if (ids.length === 0) return;
      const show = (notice: Notice) => (ids.includes(notice.notice_id) ? { ...notice, is_read: true } : notice);
      cache.setQueryData<Pages>(
        queries.inbox().queryKey,
        (known) => known && { ...known, pages: known.pages.map((page) => ({ ...page, notices: page.notices.map(show) })) },
      );
      desk.outbox
        .deliver("Marking as read", () => desk.client.call("markRead", { body: { notice_ids: ids } }))
        .then((count) => cache.setQueryData(queries.unread().queryKey, count))
        .catch((error: unknown) => {
          toast({ kind: "problem", words: `Not marked as read: ${wordsOf(error)}` });
          void cache.invalidateQueries({ queryKey: ["inbox"] });
        });
    },
    [desk, queries, cache],
  );
}
