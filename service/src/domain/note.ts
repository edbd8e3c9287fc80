import { Type, type Static } from "typebox";
import { timeOfChange, type CaseDocument, type Changed } from "./case.ts";
import { Time, Uuid } from "./field.ts";
import { normalEmail } from "./user.ts";

export const noteCharactersMax = 4000;
export const notesMax = 500;
const mentionsMax = 20;

export const Note = Type.Object(
  {
    note_id: Uuid,
    case_id: Type.String(),
    text: Type.String({ description: "Empty if the account of the case was erased meanwhile." }),
    mentions: Type.Array(Uuid, { description: "The `user_id` of each person whom the text names." }),
    created_at: Time,
    created_by: Type.String({ description: "The person or client that wrote the note, as in `changed_by`." }),
    case_version: Type.Integer({ minimum: 1, description: "The version of the case after the note." }),
    handed_to: Type.Optional(
      Type.String({ description: "Set if the note came with a handover: the `user_id` of the person, or the role." }),
    ),
  },
  { additionalProperties: false, $id: "Note" },
);
export type Note = Static<typeof Note>;

export const NewNote = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: noteCharactersMax,
      description: `Plain text. \`@\` and a person's e-mail address mention that person, for example \`@ada@shop.example\`. The first ${mentionsMax} mentions count.`,
    }),
  },
  { additionalProperties: false, $id: "NewNote" },
);
export type NewNote = Static<typeof NewNote>;

const mention = /(?<![\p{L}\p{N}._%+-])@([^\s@<>()[\],;:"']+@[^\s@<>()[\],;:"']*[\p{L}\p{N}])/gu;

// The e-mail addresses that the text mentions, each once, as they are stored.
export function mentionedIn(text: string): string[] {
  const found = [...text.matchAll(mention)].map(([, email = ""]) => normalEmail(email));
  return [...new Set(found)].slice(0, mentionsMax);
}

type Writing = Pick<Note, "note_id" | "mentions"> & { by: string; now: string };

// A note raises the version, so that nobody closes the case without having seen it. The state stays as it is.
export function noteCase(found: CaseDocument, { note_id, mentions, by, now }: Writing): Changed {
  const at = timeOfChange(found, now);
  const document = { ...found, case_version: found.case_version + 1, updated_at: at };
  const resource = { type: "case" as const, id: found.case_id, version: document.case_version };
  return { document, events: [{ type: "case.note_added", occurred_at: at, actor: by, resource, data: { note_id, mentions } }] };
}
