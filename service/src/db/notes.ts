import type { Erased } from "../domain/erasure.ts";
import { beginningOf, databasePattern } from "../domain/erasure.ts";
import type { LoggedEvent } from "../domain/event.ts";
import type { Note } from "../domain/note.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export async function insertNote(tx: Queryable, tenantId: string, note: Note): Promise<void> {
  await tx.query(sql`
    insert into case_notes (tenant_id, case_id, note_id, text, mentions, created_at, created_by, case_version, handed_to)
    values (${tenantId}, ${note.case_id}, ${note.note_id}, ${note.text}, ${note.mentions}::uuid[], ${note.created_at},
      ${note.created_by}, ${note.case_version}, ${note.handed_to ?? null})`);
}

export async function countNotes(database: Queryable, tenantId: string, caseId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from case_notes
    where tenant_id = ${tenantId} and case_id = ${caseId}`);
  return row?.count ?? 0;
}

// Newest first. Note ids contain the time.
export async function listNotes(
  database: Queryable,
  tenantId: string,
  page: { case_id: string; before: string | null; limit: number },
): Promise<Note[]> {
  const rows = await database.query<Row & Omit<Note, "handed_to"> & { handed_to: string | null }>(sql`
    select note_id, case_id, text, mentions, created_at, created_by, case_version, handed_to
    from case_notes
    where tenant_id = ${tenantId}
      and case_id = ${page.case_id}
      and (${page.before}::uuid is null or note_id < ${page.before}::uuid)
    order by note_id desc
    limit ${page.limit}`);
  return rows.map(({ handed_to, ...note }) => ({ ...note, ...(handed_to !== null && { handed_to }) }));
}

type NoteText = { note_id: string; text: string };

export async function findNoteTexts(
  database: Queryable,
  tenantId: string,
  wanted: { case_id: string; note_id: string }[],
): Promise<Map<string, string>> {
  const possible = wanted.filter(({ case_id, note_id }) => isCanonicalUuid(case_id) && isCanonicalUuid(note_id));
  if (possible.length === 0) return new Map();
  const rows = await database.query<Row & NoteText>(sql`
    select n.note_id, n.text
    from unnest(
      ${possible.map((each) => each.case_id)}::uuid[],
      ${possible.map((each) => each.note_id)}::uuid[]
    ) as w (case_id, note_id)
    join case_notes as n on n.tenant_id = ${tenantId} and n.case_id = w.case_id and n.note_id = w.note_id`);
  return new Map(rows.map(({ note_id, text }) => [note_id, text]));
}

function noteOf({ data }: LoggedEvent): string | undefined {
  return typeof data?.["note_id"] === "string" ? data["note_id"] : undefined;
}

// The log does not contain the texts of notes, so that an erasure need not search it. Readers get the text with the event.
export async function withNoteTexts(database: Queryable, tenantId: string, events: LoggedEvent[]): Promise<LoggedEvent[]> {
  const wanted = events.flatMap((event) => {
    const note_id = noteOf(event);
    return note_id === undefined ? [] : [{ case_id: event.resource.id, note_id }];
  });
  if (wanted.length === 0) return events;
  const texts = await findNoteTexts(database, tenantId, wanted);
  return events.map((event) => {
    const text = texts.get(noteOf(event) ?? "");
    return text === undefined ? event : { ...event, data: { ...event.data, text } };
  });
}

// Notes about the account's own cases may say anything about the person, so they are deleted. Elsewhere, only the id is replaced.
export async function eraseAccountFromNotes(
  tx: Queryable,
  tenantId: string,
  { id, pseudonym, caseIds }: Erased & { caseIds: string[] },
): Promise<void> {
  await tx.query(sql`
    delete from case_notes
    where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update case_notes
    set text = regexp_replace(text, ${pattern}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and position(${beginningOf(id)} in text) > 0 and text ~ ${pattern}`);
}
