import type { Case, NewApproval } from "@casehound/client";
import { useState } from "react";
import { useSecondPerson } from "../approving/useSecondPerson.tsx";
import { ColleagueNote } from "../claiming/ClaimLine.tsx";
import { subjectCaseName } from "../parts/subject.ts";
import { useAddNote } from "../notes/add.ts";
import { Actor } from "../parts/Actor.tsx";
import { hasOwnReason, outcomeInSentence } from "../parts/Badges.tsx";
import { Button, Kbd } from "../parts/Button.tsx";
import { CopyBlock } from "../parts/Copy.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert } from "../parts/Field.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { Score } from "../parts/Score.tsx";
import { ageWords } from "../parts/Time.tsx";
import { toast } from "../parts/Toasts.tsx";
import { visible } from "../parts/visible.ts";
import type { BulkCase } from "../changes/bulk.ts";
import { closingOf, type Disposition, type ListWish, type Verdict } from "../changes/desk.ts";
import { ConflictStrip } from "./ConflictStrip.tsx";
import { FlagFields, useFlagWishes } from "./FlagFields.tsx";
import { ListFields, useListWishes } from "./ListFields.tsx";
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

// Only the reason is left to save, because the case already has an outcome. It can become a note.
function ClosedFirst({ seen, closed, onClose }: Props & { closed: Case }) {
  const { changed_by, changed_at } = closed.current_state;
  const outcome = outcomeInSentence(closed.current_state);
  const { add, isBusy } = useAddNote(seen.case_id);
  const { reason } = readDraft(seen.case_id);
  const finish = () => {
    dropDraft(seen.case_id);
    onClose();
  };
  const addNote = async () => {
    if (!(await add(reason))) return;
    toast({ kind: "done", words: "Your text was added as a note." });
    finish();
  };
  return (
    <Dialog
      title={`Already closed: ${subjectCaseName(seen.website_account_id, seen.details.subject)}`}
      onClose={onClose}
      isBusy={isBusy}
      footer={
        <>
          <Button look="danger" className="mr-auto" onClick={finish} disabled={isBusy}>
            Discard my text
          </Button>
          <Button onClick={onClose} disabled={isBusy}>
            Keep my draft
          </Button>
          <Button look="primary" data-first-focus onClick={() => void addNote()} disabled={isBusy}>
            {isBusy ? "Adding…" : "Add it as a note"}
          </Button>
        </>
      }
    >
      <p role="alert" className="mb-4 rounded-lg border border-warn/40 bg-warn-soft p-3 text-warn [overflow-wrap:anywhere]">
        <Actor actor={changed_by} /> closed this case {ageWords(changed_at)} ago
        {outcome !== undefined && ` as ${outcome}`}
        {hasOwnReason(closed.current_state) && `: ${closed.current_state.reason}`}. Your text was not saved with it.
      </p>
      <h3 className="mb-1 text-sm font-medium">Your text</h3>
      <CopyBlock name="your text" text={reason} />
    </Dialog>
  );
}

function Closing({ seen, first, conflict, problem, isBusy, onSubmit, onClose }: Props) {
  const id = seen.case_id;
  const [draft, write] = useDraft(id, first);
  const [isForMembers, setForMembers] = useState(false);
  const [snooze, setSnooze] = useState<Snooze | null>(null);
  const { flags, wishes, setWishes, press } = useFlagWishes(seen);
  const listing = useListWishes(seen);
  const { case_version } = conflict ?? seen;
  const asked = { case_id: id, case_version, isForMembers, snooze, flags: wishes, listed: listing.wishes };
  const cases = [{ case_id: id, case_version }];
  const second = useSecondPerson(probeOf(cases, asked), () => {
    dropDraft(id);
    onClose();
  });
  const isSending = isBusy || second.isBusy;
  const send = () => {
    const verdict = isSending ? null : verdictOf(draft, asked);
    if (verdict && second.isNeeded) second.request({ cases, ...closingOf(verdict) });
    else if (verdict) onSubmit(verdict);
  };
  // After a conflict, only the button closes the case.
  const submitByKey = conflict ? () => {} : send;
  return (
    <Dialog
      title={`Close ${subjectCaseName(seen.website_account_id, seen.details.subject)}`}
      onClose={onClose}
      footer={
        <Footer
          {...{ onClose, conflict }}
          isBusy={isSending}
          isForTwo={second.isNeeded}
          isReady={draft.disposition !== null}
          onSend={send}
        />
      }
    >
      {conflict && <ConflictStrip seen={seen} now={conflict} onAnyway={send} onReview={onClose} isBusy={isSending} />}
      <About seen={seen} problem={problem} />
      <div
        onKeyDown={(event) => {
          press(event);
          listing.press(event);
          // The fields for the verdict handle their own keys.
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isDefaultPrevented()) submitByKey();
        }}
      >
        <VerdictFields
          labels={[seen.details.primary_fraud_label]}
          draft={draft}
          onDraft={write}
          onSubmit={submitByKey}
          isDisabled={isBusy}
        />
        <FlagFields flags={flags} value={wishes} onValue={setWishes} isDisabled={isBusy} />
        <ListFields {...listing} disposition={draft.disposition} isDisabled={isBusy} />
        {draft.disposition === "FALSE_POSITIVE" && (
          <SnoozeFields seen={seen} value={snooze} onValue={setSnooze} isDisabled={isBusy} />
        )}
        <ForMembers
          entered={seen.details.members?.entered ?? 0}
          value={isForMembers}
          onValue={setForMembers}
          isDisabled={isBusy}
        />
        {second.element}
      </div>
      <GuideLink page="investigators#decide" about="closing a case" className="mt-3 text-xs" />
    </Dialog>
  );
}

function useDraft(id: string, first: Disposition | null): [Draft, (next: Draft) => void] {
  const [draft, setDraft] = useState<Draft>(() => {
    const known = readDraft(id);
    return first === null || first === known.disposition ? known : { disposition: first, reason: known.reason };
  });
  const write = (next: Draft) => {
    setDraft(next);
    saveDraft(id, next);
  };
  return [draft, write];
}

function About({ seen, problem }: Pick<Props, "seen" | "problem">) {
  return (
    <>
      {problem !== null && (
        <div className="mb-4">
          <Alert>{problem}</Alert>
        </div>
      )}
      <ColleagueNote caseId={seen.case_id} />
      <div className="mb-4 flex items-start gap-3">
        <Score score={seen.details.overall_risk_score} />
        <p className="line-clamp-3 text-sm text-soft">{visible(seen.details.summary)}</p>
      </div>
    </>
  );
}

type Asked = Pick<Verdict, "case_id" | "case_version" | "flags"> & {
  isForMembers: boolean;
  snooze: Snooze | null;
  listed: (reason: string) => ListWish[];
};

// What the person has decided so far, or null without an outcome.
function verdictOf({ disposition, reason, own_disposition: own }: Draft, { snooze, listed, ...asked }: Asked): Verdict | null {
  if (disposition === null) return null;
  const words = reason.trim();
  const quiet = disposition === "FALSE_POSITIVE" && snooze !== null && { snooze };
  return {
    ...asked,
    disposition,
    reason: words,
    ...(own !== undefined && { own_disposition: own }),
    ...quiet,
    listed: listed(words),
  };
}

// The parts of the change that decide whether a second person is needed.
function probeOf(cases: BulkCase[], { isForMembers, flags }: Pick<Asked, "isForMembers" | "flags">): NewApproval {
  const isBlocking = flags?.is_blocked === true;
  return { cases, ...(isForMembers && { members: "same" }), ...(isBlocking && { account: { is_blocked: true } }) };
}

type FooterProps = Pick<Props, "conflict" | "isBusy" | "onClose"> & { isForTwo: boolean; isReady: boolean; onSend: () => void };

// After a conflict, the strip has the button that closes the case.
function Footer({ conflict, isBusy, isForTwo, isReady, onClose, onSend }: FooterProps) {
  if (conflict) return <Button onClick={onClose}>Cancel</Button>;
  return (
    <>
      <span className="mr-auto flex items-center gap-1.5 text-xs text-faint max-sm:hidden">
        <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> {isForTwo ? "requests approval" : "closes it"}
      </span>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" onClick={onSend} disabled={isBusy || !isReady}>
        {isForTwo ? (isBusy ? "Requesting…" : "Request approval") : isBusy ? "Closing…" : "Close the case"}
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
