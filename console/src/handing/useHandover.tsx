import type { Case } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState, type ReactNode } from "react";
import { soon } from "../data/soon.ts";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { HandoverDialog } from "./HandoverDialog.tsx";

// Opens the dialog that hands a case over. `element` must be rendered.
export function useHandover(): { element: ReactNode; open: (caseId: string) => void } {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const [seen, setSeen] = useState<Case | null>(null);
  const open = useCallback(
    (caseId: string) => {
      const show = (found: Case | null) => {
        if (document.querySelector("dialog[open]")) return;
        if (found) setSeen(found);
        else toast({ kind: "problem", words: "The case could not be loaded." });
      };
      // A key may be faster than the pane, so wait briefly for the case.
      void soon(cache.ensureQueryData(queries.case(caseId))).then(show);
    },
    [cache, queries],
  );
  const element = seen && <HandoverDialog key={seen.case_id} seen={seen} onClose={() => setSeen(null)} />;
  return { element, open };
}
