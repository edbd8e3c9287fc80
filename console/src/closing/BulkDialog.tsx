import type { CaseListItem } from "@casehound/client";
import { useSecondPerson } from "../approving/useSecondPerson.tsx";
import { useRef, useState, type ReactNode } from "react";
import { Button, Kbd } from "../parts/Button.tsx";
import { CaseName } from "../parts/CaseName.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { BulkClosing, type BulkOutcome, type BulkVerdict } from "../changes/bulk.ts";
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
// The most cases in one approval request.
const requestedMax = 500;

// Closes many cases in one dialog: first the verdict, then a progress bar, then the outcome of each case.
export function BulkDialog({ rows, first, onOutcomes, onClose }: Props) {
  const [draft, setDraft] = useState<Draft>(() => ({ disposition: first, reason: readDraft(draftId).reason }));
  const write = (next: Draft) => {
    setDraft(next);
    saveDraft(draftId, next);
  };
  const { phase, closing, go } = useBulkWork({ rows, draft, onOutcomes });
  const count = rows.length === 1 ? "1 case" : `${rows.length} cases`;
  const cases = rows.map(({ case_id, case_version }) => ({ case_id, case_version }));
  const mayCheck = phase === "asking" && cases.length <= requestedMax;
  const second = useSecondPerson(mayCheck ? { cases } : null, () => {
    dropDraft(draftId);
    onClose();
  });
  const send = () => {
    const verdict = verdictOf(draft);
    if (!second.isNeeded) void go((each) => each.run());
    else if (verdict !== null) second.request({ cases, ...withoutEmpty(verdict) });
  };
  return (
    <Dialog
      title={`Close ${count}`}
      width={phase === "asking" ? "medium" : "wide"}
      onClose={onClose}
      isBusy={phase === "working"}
      footer={
        phase === "asking" ? (
          <AskingFooter
            count={count}
            isForTwo={second.isNeeded}
            isReady={draft.disposition !== null && !second.isBusy}
            onClose={onClose}
            onSend={send}
          />
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
          <VerdictFields
            labels={rows.map((row) => row.primary_fraud_label)}
            draft={draft}
            onDraft={write}
            onSubmit={send}
            isDisabled={false}
          />
          <div
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
            }}
          >
            {second.element}
          </div>
          <GuideLink page="investigators#close-many-cases" about="closing many cases" className="mt-3 text-xs" />
        </>
      ) : (
        <Results rows={rows} closing={closing} />
      )}
    </Dialog>
  );
}

type Work = Pick<Props, "rows" | "onOutcomes"> & { draft: Draft };

// Closes the cases batch by batch, and renders again with each outcome.
function useBulkWork({ rows, draft, onOutcomes }: Work) {
  const { desk } = useWorkspace();
  const [phase, setPhase] = useState<"asking" | "working" | "done">("asking");
  const [, setStep] = useState(0);
  const work = useRef<BulkClosing | null>(null);

  async function go(run: (closing: BulkClosing) => Promise<void>): Promise<void> {
    const verdict = verdictOf(draft);
    if (verdict === null || phase === "working") return;
    work.current ??= new BulkClosing(desk, rows, verdict, () => setStep((step) => step + 1));
    const closing = work.current;
    setPhase("working");
    await run(closing);
    setPhase("done");
    const outcomes = closing.outcomes();
    // The person may retry the cases that were not closed, with the same words.
    if ([...outcomes.values()].every(({ kind }) => kind === "closed")) dropDraft(draftId);
    onOutcomes(outcomes);
  }

  return { phase, closing: work.current, go };
}

function verdictOf({ disposition, reason, own_disposition: own }: Draft): BulkVerdict | null {
  if (disposition === null) return null;
  return { disposition, ...(own !== undefined && { own_disposition: own }), reason: reason.trim() };
}

function withoutEmpty({ reason, ...outcome }: BulkVerdict) {
  return { ...outcome, ...(reason !== "" && { reason }) };
}

type AskingProps = { count: string; isForTwo: boolean; isReady: boolean; onClose: () => void; onSend: () => void };

function AskingFooter({ count, isForTwo, isReady, onClose, onSend }: AskingProps) {
  return (
    <>
      <span className="mr-auto flex items-center gap-1.5 text-xs text-faint max-sm:hidden">
        <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> {isForTwo ? "requests approval" : "closes them"}
      </span>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={!isReady} onClick={onSend}>
        {isForTwo ? "Request approval" : `Close ${count}`}
      </Button>
    </>
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
          <li
            key={row.case_id}
            className="grid grid-cols-[14rem_minmax(0,1fr)] items-center gap-x-3 border-b border-line px-3 py-1.5 last:border-0 max-sm:grid-cols-1"
          >
            <CaseName row={row} className="truncate font-medium" />
            <span className="[overflow-wrap:anywhere]">
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
