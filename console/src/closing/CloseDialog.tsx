import type { Case } from "@casehound/client";
import { useState } from "react";
import { ColleagueNote } from "../claiming/ClaimLine.tsx";
import { subjectCaseName } from "../parts/subject.ts";
import { Actor } from "../parts/Actor.tsx";
import { dispositionWords, hasOwnReason } from "../parts/Badges.tsx";
import { Button, Kbd } from "../parts/Button.tsx";
import { CopyBlock } from "../parts/Copy.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert } from "../parts/Field.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { Score } from "../parts/Score.tsx";
import { ageWords } from "../parts/Time.tsx";
import { visible } from "../parts/visible.ts";
import type { Disposition, Verdict } from "../changes/desk.ts";
import { ConflictStrip } from "./ConflictStrip.tsx";
import { FlagFields, useFlagWishes } from "./FlagFields.tsx";
import { SnoozeFields, type Snooze } from "./SnoozeFields.tsx";
import { VerdictFields } from "./VerdictFields.tsx";
import { dropDraft, readDraft, saveDraft, type Draft } from "./draft.ts";

type Props = {
  // The case as the person saw it when the dialog opened. Live changes do not alter it.
  seen: Case;
  first: Disposition | null;
  conflict: Case | null;
  // The case as somebody else closed it first.
  closed: Case | null;
  problem: string | null;
  isBusy: boolean;
  onSubmit: (verdict: Verdict) => void;
  onClose: () => void;
};

export function CloseDialog(props: Props) {
  return props.closed ? <ClosedFirst {...props} closed={props.closed} /> : <Closing {...props} />;
}

// Only the reason is left to save, because the case already has an outcome.
function ClosedFirst({ seen, closed, onClose }: Props & { closed: Case }) {
  const { disposition, changed_by, changed_at } = closed.current_state;
  const discard = () => {
    dropDraft(seen.case_id);
    onClose();
  };
  return (
    <Dialog
      title={`Already closed: ${subjectCaseName(seen.website_account_id, seen.details.subject)}`}
      onClose={onClose}
      footer={
        <>
          <Button look="danger" onClick={discard}>
            Discard my text
          </Button>
          <Button look="primary" onClick={onClose}>
            Keep my draft
          </Button>
        </>
      }
    >
      <p role="alert" className="mb-4 rounded-lg border border-warn/40 bg-warn-soft p-3 text-warn [overflow-wrap:anywhere]">
        <Actor actor={changed_by} /> closed this case {ageWords(changed_at)} ago
        {disposition && ` as ${dispositionWords[disposition].toLowerCase()}`}
        {hasOwnReason(closed.current_state) && `: ${closed.current_state.reason}`}. Your text was not saved with it.
      </p>
      <h3 className="mb-1 text-sm font-medium">Your text</h3>
      <CopyBlock name="your text" text={readDraft(seen.case_id).reason} />
    </Dialog>
  );
}

function Closing({ seen, first, conflict, problem, isBusy, onSubmit, onClose }: Props) {
  const id = seen.case_id;
  const [draft, setDraft] = useState<Draft>(() => {
    const known = readDraft(id);
    return first === null ? known : { ...known, disposition: first };
  });
  const [isForMembers, setForMembers] = useState(false);
  const [snooze, setSnooze] = useState<Snooze | null>(null);
  const { flags, wishes, setWishes, press } = useFlagWishes(seen);
  const entered = seen.details.members?.entered ?? 0;
  const write = (next: Draft) => {
    setDraft(next);
    saveDraft(id, next);
  };
  const submit = (version: number) => {
    const { disposition, reason } = draft;
    if (disposition === null || isBusy) return;
    const quiet = disposition === "FALSE_POSITIVE" && snooze !== null && { snooze };
    onSubmit({ case_id: id, case_version: version, disposition, reason: reason.trim(), isForMembers, ...quiet, flags: wishes });
  };
  const send = () => submit((conflict ?? seen).case_version);
  // After a conflict, only the button closes the case.
  const submitByKey = conflict ? () => {} : send;
  return (
    <Dialog
      title={`Close ${subjectCaseName(seen.website_account_id, seen.details.subject)}`}
      onClose={onClose}
      footer={<Footer {...{ onClose, isBusy, conflict }} isReady={draft.disposition !== null} onSend={send} />}
    >
      {conflict && <ConflictStrip seen={seen} now={conflict} onAnyway={send} onReview={onClose} isBusy={isBusy} />}
      {problem !== null && (
        <div className="mb-4">
          <Alert>{problem}</Alert>
        </div>
      )}
      <ColleagueNote caseId={id} />
      <div className="mb-4 flex items-start gap-3">
        <Score score={seen.details.overall_risk_score} />
        <p className="line-clamp-3 text-sm text-soft">{visible(seen.details.summary)}</p>
      </div>
      <div
        onKeyDown={(event) => {
          press(event);
          // The fields for the verdict handle their own keys.
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isDefaultPrevented()) submitByKey();
        }}
      >
        <VerdictFields draft={draft} onDraft={write} onSubmit={submitByKey} isDisabled={isBusy} />
        <FlagFields flags={flags} value={wishes} onValue={setWishes} isDisabled={isBusy} />
        {draft.disposition === "FALSE_POSITIVE" && (
          <SnoozeFields seen={seen} value={snooze} onValue={setSnooze} isDisabled={isBusy} />
        )}
        <ForMembers entered={entered} value={isForMembers} onValue={setForMembers} isDisabled={isBusy} />
      </div>
      <GuideLink page="investigators#decide" about="closing a case" className="mt-3 text-xs" />
    </Dialog>
  );
}

type FooterProps = Pick<Props, "conflict" | "isBusy" | "onClose"> & { isReady: boolean; onSend: () => void };

// After a conflict, the strip has the button that closes the case.
function Footer({ conflict, isBusy, isReady, onClose, onSend }: FooterProps) {
  if (conflict) return <Button onClick={onClose}>Cancel</Button>;
  return (
    <>
      <span className="mr-auto flex items-center gap-1.5 text-xs text-faint">
        <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> closes it
      </span>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" onClick={onSend} disabled={isBusy || !isReady}>
        {isBusy ? "Closing…" : "Close the case"}
      </Button>
    </>
  );
}

type MembersProps = { entered: number; value: boolean; onValue: (value: boolean) => void; isDisabled: boolean };

// Offers to close the cases that the attack opened.
function ForMembers({ entered, value, onValue, isDisabled }: MembersProps) {
  if (entered === 0) return null;
  return (
    <label className="mt-4 flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-1 size-4 accent-accent"
        checked={value}
        disabled={isDisabled}
        onChange={(event) => onValue(event.target.checked)}
      />
      <span>
        Same outcome for {entered === 1 ? "the account that was entered" : `all ${entered} accounts that were entered`}
        <span className="block text-xs text-faint">
          This also closes the open cases that this attack opened. Cases that were opened for another reason stay open.
        </span>
      </span>
    </label>
  );
}
