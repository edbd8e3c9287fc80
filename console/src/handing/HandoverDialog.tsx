import type { Case } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { ConflictStrip } from "../closing/ConflictStrip.tsx";
import { NoteField } from "../notes/NoteField.tsx";
import { readNoteDraft, saveNoteDraft } from "../notes/draft.ts";
import { Button, Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert, inputLook } from "../parts/Field.tsx";
import { subjectCaseName } from "../parts/subject.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { useRecipientRoles } from "./recipients.ts";
import { useSending } from "./sending.ts";

const conflictWords = { failed: "The case was not handed over.", anyway: "Hand over anyway" };

// Hands a case over to a person or a role. What is typed survives a conflict, Escape and a reload.
export function HandoverDialog({ seen, onClose }: { seen: Case; onClose: () => void }) {
  const { session } = useWorkspace();
  const draftName = `handover.${seen.case_id}`;
  // An investigator usually escalates to a lead.
  const [recipient, setRecipient] = useState(session.user.role === "investigator" ? "lead" : "");
  const [text, setText] = useState(() => readNoteDraft(draftName));
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (next: string) => {
    setText(next);
    saveNoteDraft(draftName, next);
  };
  const { conflict, problem, isBusy, send } = useSending(seen, () => {
    saveNoteDraft(draftName, "");
    onClose();
  });
  const isReady = recipient !== "" && text.trim() !== "" && !isBusy;
  const submit = () => {
    if (isReady) void send({ handed_to: recipient, text });
  };
  return (
    <Dialog
      title={`Hand over ${subjectCaseName(seen.website_account_id, seen.details.subject)}`}
      onClose={onClose}
      footer={
        <>
          <span className="mr-auto flex items-center gap-1.5 text-xs text-faint">
            {!conflict && (
              <>
                <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> hands it over
              </>
            )}
          </span>
          <Button onClick={onClose}>Cancel</Button>
          {!conflict && (
            <Button look="primary" disabled={!isReady} onClick={submit}>
              {isBusy ? "Handing over…" : "Hand over"}
            </Button>
          )}
        </>
      }
    >
      {conflict && (
        <ConflictStrip seen={seen} now={conflict} words={conflictWords} onAnyway={submit} onReview={onClose} isBusy={!isReady} />
      )}
      <div className="grid gap-4">
        {problem !== null && <Alert>{problem}</Alert>}
        <RecipientField value={recipient} onValue={setRecipient} isDisabled={isBusy} />
        <div className="grid gap-1">
          <span className="text-sm font-medium">Note</span>
          {/* After a conflict, only the button hands the case over. */}
          <NoteField field={field} text={text} onText={write} onSend={conflict ? () => {} : submit} />
          <p className="text-xs text-soft">
            This ends your claim on the case. The recipient sees the note in their inbox and on the case.
          </p>
        </div>
      </div>
    </Dialog>
  );
}

type RecipientProps = { value: string; onValue: (value: string) => void; isDisabled: boolean };

function RecipientField({ value, onValue, isDisabled }: RecipientProps) {
  const { queries, session } = useWorkspace();
  const colleagues = useQuery(queries.colleagues()).data ?? [];
  const roles = useRecipientRoles();
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        To
      </label>
      <select
        id={id}
        data-first-focus=""
        className={inputLook}
        value={value}
        disabled={isDisabled}
        onChange={({ target }) => onValue(target.value)}
      >
        <option value="" disabled>
          Choose a role or a person
        </option>
        <optgroup label="Roles">
          {roles.map(({ role, name }) => (
            <option key={role} value={role}>
              {name}
            </option>
          ))}
        </optgroup>
        <optgroup label="People">
          {colleagues.map(({ user_id, name, email }) => (
            <option key={user_id} value={user_id}>
              {name} ({email}){user_id === session.user.user_id && ", you"}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}
