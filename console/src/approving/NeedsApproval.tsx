import type { ApprovalCheck } from "@casehound/client";
import { Users } from "lucide-react";
import { useId } from "react";
import { approverWords, becauseWords } from "./words.ts";

type Props = { check: ApprovalCheck; note: string; onNote: (note: string) => void; isDisabled: boolean };

// Says that a second person must approve the close, and who can, with a field for a message.
export function NeedsApproval({ check, note, onNote, isDisabled }: Props) {
  const id = useId();
  return (
    <div className="mt-4 grid gap-2 rounded-lg border border-accent/40 bg-accent-soft p-3">
      <p role="status" className="flex gap-2 [overflow-wrap:anywhere]">
        <Users size={16} aria-hidden className="mt-0.5 shrink-0" />
        <span>
          A second person must approve this, because {becauseWords(check.because)}. {approverWords(check.approvers)}
        </span>
      </p>
      <label htmlFor={id} className="text-sm font-medium">
        Message to the approver
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={1000}
        className="w-full rounded-md border border-edge bg-surface px-2.5 py-1.5 text-sm text-ink"
        value={note}
        disabled={isDisabled}
        onChange={({ target }) => onNote(target.value)}
      />
    </div>
  );
}
