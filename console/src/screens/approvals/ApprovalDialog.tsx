import type { Approval } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { fullDay } from "../../parts/clock.ts";
import { approvalQuery } from "../../approving/queries.ts";
import { statusWords, titleOf } from "../../approving/words.ts";
import { Actor, nameOfActor } from "../../parts/Actor.tsx";
import { Button, Kbd } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert } from "../../parts/Field.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Applied } from "./Applied.tsx";
import { useDeciding } from "./deciding.ts";

type Props = { approvalId: string; onClose: () => void };

export function ApprovalDialog({ approvalId, onClose }: Props) {
  const { client } = useWorkspace();
  const read = useQuery(approvalQuery(client, approvalId));
  if (read.data) return <Request found={read.data} onClose={onClose} />;
  return (
    <Dialog title="Approval request" onClose={onClose}>
      {read.isPending && <Loading lines={4} name="Loading the request" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
    </Dialog>
  );
}

const unable: Partial<Record<Approval["status"], string>> = {
  STALE: "A case has changed since the request, so it can no longer be approved. The requester can request approval again.",
  EXPIRED: "Nobody approved or rejected the request in time, so it can no longer be approved.",
};

// Shows exactly what would be applied. Another person approves or rejects it, and the requester can withdraw it.
function Request({ found, onClose }: { found: Approval; onClose: () => void }) {
  const { session, may } = useWorkspace();
  const [note, setNote] = useState("");
  const { problem, isBusy, decide } = useDeciding(found.approval_id, onClose);
  const { status, requested_by, requested_at, expires_at, decided_by, decided_at, decision_note } = found;
  const isOwn = requested_by.endsWith(`<${session.user.email}>`);
  const isOpen = status === "PENDING" || (status === "STALE" && decided_at === undefined);
  const mayDecide = isOpen && !isOwn && may("update:case");
  const send = (wanted: "APPROVED" | "REJECTED" | "WITHDRAWN") => {
    if (!isBusy) void decide(wanted, note.trim());
  };
  const because = unable[status];
  return (
    <Dialog
      title={titleOf(found)}
      width="wide"
      onClose={onClose}
      isBusy={isBusy}
      footer={<Choices {...{ status, isOpen, isOwn, mayDecide, isBusy, onClose }} onSend={send} />}
    >
      <div className="grid gap-4">
        {problem !== null && <Alert>{problem}</Alert>}
        <p className="[overflow-wrap:anywhere]">
          <Actor actor={requested_by} /> requested this <Age at={requested_at} suffix=" ago" />.{" "}
          {status === "PENDING" && (
            <>
              It expires on <time dateTime={expires_at}>{fullDay.format(new Date(expires_at))}</time>.
            </>
          )}
          {status !== "PENDING" && (
            <b className="font-medium">
              {statusWords[status]}
              {decided_by !== undefined && ` by ${nameOfActor(decided_by)}`}.
            </b>
          )}
        </p>
        {because !== undefined && (
          <p role="alert" className="rounded-lg border border-warn/40 bg-warn-soft p-3 text-warn">
            {because}
          </p>
        )}
        {found.note !== undefined && <Quote name="Message" text={found.note} />}
        {decision_note !== undefined && <Quote name="Reply" text={decision_note} />}
        <Applied found={found} />
        {mayDecide && (
          <Answer
            note={note}
            onNote={setNote}
            isDisabled={isBusy}
            onSend={status === "PENDING" ? () => send("APPROVED") : null}
          />
        )}
        {isOpen && isOwn && <p className="text-sm text-soft">Another person must approve it. You can withdraw it.</p>}
      </div>
    </Dialog>
  );
}

type ChoiceProps = {
  status: Approval["status"];
  isOpen: boolean;
  isOwn: boolean;
  mayDecide: boolean;
  isBusy: boolean;
  onClose: () => void;
  onSend: (wanted: "APPROVED" | "REJECTED" | "WITHDRAWN") => void;
};

function Choices({ status, isOpen, isOwn, mayDecide, isBusy, onClose, onSend }: ChoiceProps) {
  const mayApprove = mayDecide && status === "PENDING";
  return (
    <>
      <span className="mr-auto flex items-center gap-1.5 text-xs text-faint max-sm:hidden">
        {mayApprove && (
          <>
            <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> approves the request
          </>
        )}
      </span>
      <Button onClick={onClose} disabled={isBusy}>
        {isOpen ? "Cancel" : "Done"}
      </Button>
      {isOpen && isOwn && (
        <Button look="danger" onClick={() => onSend("WITHDRAWN")} disabled={isBusy}>
          Withdraw
        </Button>
      )}
      {mayDecide && (
        <Button look="danger" onClick={() => onSend("REJECTED")} disabled={isBusy}>
          Reject
        </Button>
      )}
      {mayApprove && (
        <Button look="primary" onClick={() => onSend("APPROVED")} disabled={isBusy}>
          {isBusy ? "Sending…" : "Approve"}
        </Button>
      )}
    </>
  );
}

function Quote({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <h3 className="mb-1 text-sm font-medium">{name}</h3>
      <p className="border-l-2 border-line pl-3 whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">{text}</p>
    </div>
  );
}

type AnswerProps = { note: string; onNote: (note: string) => void; isDisabled: boolean; onSend: (() => void) | null };

function Answer({ note, onNote, isDisabled, onSend }: AnswerProps) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        Reply to the requester
      </label>
      <textarea
        id={id}
        data-first-focus=""
        rows={2}
        maxLength={1000}
        className="w-full rounded-md border border-edge bg-surface px-2.5 py-1.5 text-sm text-ink"
        value={note}
        disabled={isDisabled}
        onChange={({ target }) => onNote(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend?.();
        }}
      />
    </div>
  );
}
