import type { Case, CaseDigest } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Forward } from "lucide-react";
import { Button, Kbd } from "../parts/Button.tsx";
import { nameOfActor } from "../parts/Actor.tsx";
import { Age } from "../parts/Time.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { useRecipientName } from "./recipients.ts";

type Handover = NonNullable<CaseDigest["handover"]>;
type LineProps = { found: Pick<Case, "case_id" | "website_account_id" | "status">; onHandOver: () => void };

// To whom the case was handed over, and the button for it.
export function HandoverLine({ found, onHandOver }: LineProps) {
  const { queries, may } = useWorkspace();
  const { data: digest } = useQuery({ ...queries.digest(found), enabled: found.status === "OPEN" });
  const nameOf = useRecipientName();
  if (found.status !== "OPEN") return null;
  const handover = digest?.handover;
  return (
    <span className="no-print flex min-h-7 flex-wrap items-center gap-x-2 text-xs text-soft">
      {handover && (
        <span className="flex min-w-0 items-center gap-1.5">
          <Forward size={14} aria-hidden className="shrink-0" />
          <span className="min-w-0">
            Handed over to {nameOf(handover.handed_to)} by{" "}
            <span title={handover.handed_by} className="inline-block max-w-40 truncate align-bottom">
              {nameOfActor(handover.handed_by)}
            </span>{" "}
            · <Age at={handover.handed_at} />
          </span>
        </span>
      )}
      {may("update:case") && (
        <Button className="!h-6 !px-2 text-xs" onClick={onHandOver}>
          Hand over <Kbd>H</Kbd>
        </Button>
      )}
    </span>
  );
}

// Marks a row whose case was handed over. Filled if it was handed over to the person.
export function HandoverMark({ handover }: { handover: Handover }) {
  const { session } = useWorkspace();
  const nameOf = useRecipientName();
  const { user_id, role } = session.user;
  const isMine = [user_id, role].includes(handover.handed_to);
  const words = `Handed over to ${nameOf(handover.handed_to)}`;
  const look = isMine ? "bg-accent-soft text-accent" : "text-faint";
  return (
    <span title={words} className={`grid size-5 shrink-0 place-items-center rounded ${look}`}>
      <Forward size={13} aria-hidden />
      <span className="sr-only">{words}</span>
    </span>
  );
}
