import type { CaseListItem } from "@casehound/client";
import { useRef, useState, type ReactNode } from "react";
import { accountName } from "../parts/account-name.ts";
import { Button, Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { BulkClosing, type BulkOutcome } from "../changes/bulk.ts";
import type { Disposition } from "../changes/desk.ts";
import { VerdictFields } from "./VerdictFields.tsx";
import { dropDraft, readDraft, saveDraft, type Draft } from "./draft.ts";

type Props = {
  rows: CaseListItem[];
  first: Disposition | null;
  onOutcomes: (outcomes: ReadonlyMap<string, BulkOutcome>) => void;
  onClose: () => void;
};

// The draft of all bulk closes. A case id is never empty.
const draftId = "";

// Closes many cases in one dialog: first the verdict, then a progress bar, then the outcome of each case.
export function BulkDialog({ rows, first, onOutcomes, onClose }: Props) {
  const { desk } = useWorkspace();
  const [draft, setDraft] = useState<Draft>(() => ({ disposition: first, reason: readDraft(draftId).reason }));
  const write = (next: Draft) => {
    setDraft(next);
    saveDraft(draftId, next);
  };
  const [phase, setPhase] = useState<"asking" | "working" | "done">("asking");
  const [, setStep] = useState(0);
  const work = useRef<BulkClosing | null>(null);

  async function go(run: (closing: BulkClosing) => Promise<void>): Promise<void> {
    const { disposition, reason } = draft;
    if (disposition === null || phase === "working") return;
    work.current ??= new BulkClosing(desk, rows, { disposition, reason: reason.trim() }, () => setStep((step) => step + 1));
    const closing = work.current;
    setPhase("working");
    await run(closing);
    setPhase("done");
    const outcomes = closing.outcomes();
    // What was not closed may be closed again with the same words.
    if ([...outcomes.values()].every(({ kind }) => kind === "closed")) dropDraft(draftId);
    onOutcomes(outcomes);
  }

  const count = rows.length === 1 ? "1 case" : `${rows.length} cases`;
  const closing = work.current;
  return (
    <Dialog
      title={`Close ${count}`}
      width={phase === "asking" ? "medium" : "wide"}
      onClose={onClose}
      isBusy={phase === "working"}
      footer={
        phase === "asking" ? (
          <>
            <span className="mr-auto flex items-center gap-1.5 text-xs text-faint">
              <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> closes them
            </span>
            <Button onClick={onClose}>Cancel</Button>
            <Button look="primary" disabled={draft.disposition === null} onClick={() => void go((each) => each.run())}>
              Close {count}
            </Button>
          </>
        ) : (
          <>
            {phase === "done" && closing?.hasFailed && (
              <Button onClick={() => void go((each) => each.retry())}>Retry failed cases</Button>
            )}
            <Button look="primary" onClick={onClose} disabled={phase === "working"}>
              Done
            </Button>
          </>
        )
      }
    >
      {phase === "asking" || !closing ? (
        <>
          <VerdictFields draft={draft} onDraft={write} onSubmit={() => void go((each) => each.run())} isDisabled={false} />
          <GuideLink page="investigators#close-many-cases" about="closing many cases" className="mt-3 text-xs" />
        </>
      ) : (
        <Results rows={rows} closing={closing} />
      )}
    </Dialog>
  );
}

function Results({ rows, closing }: { rows: CaseListItem[]; closing: BulkClosing }) {
  const outcomes = closing.outcomes();
  const kinds = [...outcomes.values()].map((each) => each.kind);
  const closed = kinds.filter((kind) => kind === "closed").length;
  return (
    <>
      <label className="grid gap-1.5">
        <span role="status">
          {closing.done} of {rows.length} done, {closed} closed
        </span>
        <progress value={closing.done} max={rows.length} className="progress h-2 w-full" />
      </label>
      <ul aria-label="Results" tabIndex={0} className="mt-4 max-h-80 overflow-y-auto rounded-md border border-line">
        {rows.map((row) => (
          <li key={row.case_id} className="flex items-center gap-3 border-b border-line px-3 py-1.5 last:border-0">
            <span className="w-56 shrink-0 truncate font-medium">{accountName(row.website_account_id)}</span>
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <OutcomeWords outcome={outcomes.get(row.case_id) ?? { kind: "waiting" }} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function OutcomeWords({ outcome }: { outcome: BulkOutcome }): ReactNode {
  switch (outcome.kind) {
    case "waiting":
      return <span className="text-faint">Waiting…</span>;
    case "closed":
      return <span className="text-good">Closed</span>;
    case "already-closed":
      return <span className="text-soft">Already closed by {outcome.by}</span>;
    case "changed":
      return (
        <span className="text-warn">
          Changed since you looked: version {outcome.from} to {outcome.to}; still open
        </span>
      );
    case "absent":
      return <span className="text-soft">No longer exists</span>;
    default:
      return <span className="text-bad">Failed: {outcome.words}</span>;
  }
}
