import { useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useKeys, type Binding } from "./keys.ts";

// Goes back in the history, also by key. Without history, for example from a bookmark, it goes to the queue.
export function useBack(): () => void {
  const router = useRouter();
  const navigate = useNavigate();
  const back = useCallback(() => {
    if (router.history.canGoBack()) router.history.back();
    else void navigate({ to: "/" });
  }, [router, navigate]);
  useKeys(useMemo<Binding[]>(() => [{ key: "Escape", shown: "Esc", name: "Back", group: "This screen", run: back }], [back]));
  return back;
}
