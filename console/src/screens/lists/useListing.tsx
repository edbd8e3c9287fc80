import type { Case } from "@casehound/client";
import { useMemo, useState, type ReactNode } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { CaseListDialog } from "./CaseListDialog.tsx";

// Opens the dialog that adds to a list, by a button or by its key.
export function useListing(found: Pick<Case, "case_id">): { isAllowed: boolean; open: () => void; element: ReactNode } {
  const { may } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const isAllowed = may("update:lists") && may("read:lists");
  const keys = useMemo<Binding[]>(
    () => [{ key: "l", name: "Add to a list", group: "The case in focus", isOff: !isAllowed, run: () => setOpen(true) }],
    [isAllowed],
  );
  useKeys(keys);
  const element = isOpen && <CaseListDialog found={found} onClose={() => setOpen(false)} />;
  return { isAllowed, open: () => setOpen(true), element };
}
