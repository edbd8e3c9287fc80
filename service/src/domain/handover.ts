import { Type, type Static } from "typebox";
import { Version, type CaseDocument, type Changed } from "./case.ts";
import { Failure, versionConflict } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { NewNote, noteCase, type Note } from "./note.ts";

// Open cases of one person or role.
export const handoversMax = 5000;

const recipientMeaning = "A person's `user_id`, or a role: `investigator`, `lead`, `admin`, or a role of the tenant's own.";

export const Handover = Type.Object(
  {
    handed_to: Type.String({ description: recipientMeaning }),
    handed_by: Type.String({ description: "The person or client that handed the case over, as in `changed_by`." }),
    handed_at: Time,
    note_id: Uuid,
    text: Type.String({ description: "The text of the note. Empty if the account of the case was erased meanwhile." }),
    case_version: Type.Integer({ minimum: 1, description: "The version of the case after the handover." }),
  },
  { additionalProperties: false, $id: "Handover" },
);
export type Handover = Static<typeof Handover>;

export const CaseHandover = Type.Object(
  { case_id: Type.String(), handover: Type.Optional(Handover) },
  { additionalProperties: false, $id: "CaseHandover" },
);
export type CaseHandover = Static<typeof CaseHandover>;

export const NewHandover = Type.Object(
  {
    case_version: Version,
    handed_to: Type.String({ minLength: 1, maxLength: 64, description: recipientMeaning }),
    text: NewNote.properties.text,
  },
  { additionalProperties: false, $id: "NewHandover" },
);
export type NewHandover = Static<typeof NewHandover>;

type HandingOver = Pick<Note, "note_id" | "mentions"> & { handed_to: string; case_version: number; by: string; now: string };

// Like a note, a handover raises the version and leaves the state as it is.
export function handOverCase(found: CaseDocument, { handed_to, case_version, ...writing }: HandingOver): Changed {
  if (found.case_version !== case_version) throw versionConflict(`Case ${found.case_id}`, found.case_version);
  if (found.status !== "OPEN") throw closedFault(found.case_id);
  const { document, events } = noteCase(found, writing);
  return {
    document,
    events: events.map((event) => ({ ...event, type: "case.handed_over", data: { handed_to, ...event.data } })),
  };
}

function closedFault(caseId: string): Failure {
  const message = "must be an open case";
  return new Failure("validation-error", `Case ${caseId} is closed, so it cannot be handed over.`, {
    errors: [{ field: "case_id", message }],
  });
}
