import type { NewApproval } from "@casehound/client";
import { useState, type ReactNode } from "react";
import { Alert } from "../parts/Field.tsx";
import { NeedsApproval } from "./NeedsApproval.tsx";
import { useApprovalCheck } from "./queries.ts";
import { useRequesting } from "./requesting.ts";

type SecondPerson = {
  // Whether the change needs a second person. The dialog then requests approval instead of closing.
  isNeeded: boolean;
  isBusy: boolean;
  request: (body: NewApproval) => void;
  // The notice, the field for a message, and any error. The dialog must render it.
  element: ReactNode;
};

// `probe` has the parts of the change that decide whether a second person is needed.
export function useSecondPerson(probe: NewApproval | null, onDone: () => void): SecondPerson {
  const check = useApprovalCheck(probe);
  const [note, setNote] = useState("");
  const { problem, isBusy, send } = useRequesting(onDone);
  const message = note.trim();
  const request = (body: NewApproval) => {
    if (!isBusy) void send({ ...body, ...(message !== "" && { note: message }) });
  };
  const element = check && (
    <>
      <NeedsApproval check={check} note={note} onNote={setNote} isDisabled={isBusy} />
      {problem !== null && (
        <div className="mt-4">
          <Alert>{problem}</Alert>
        </div>
      )}
    </>
  );
  return { isNeeded: check !== null, isBusy, request, element };
}
