import type { Queryable } from "./postgres/database.ts";
import { unprepared } from "./postgres/sql.ts";

// Phrases in what people wrote. A phrase that is in every hundredth text is found among the newest ones, without its index.
const sampleTexts = 300;

// A reason or a note.
export type WrittenText = { case_id: string; text: string };

// The last word may be the beginning of a longer one, because somebody is still typing it.
// Null if the text has no words.
const phrase = `(nullif(phraseto_tsquery('simple', $2)::text, '') || ':*')::tsquery`;

// Newest first.
export async function listSampledReasons(
  database: Queryable,
  tenantId: string,
  words: string,
  limit: number,
): Promise<WrittenText[]> {
  const text = `
    select case_id, reasons as text
    from (
      select case_id, reasons, sorted_id
      from cases
      where tenant_id = $1 and reasons is not null
      order by sorted_id desc
      limit ${sampleTexts}
    ) as sample
    where to_tsvector('simple', reasons) @@ ${phrase}
    order by sorted_id desc
    limit $3`;
  return database.query<WrittenText>(unprepared(text, [tenantId, words, limit]));
}

export async function listReasonWords(tx: Queryable, tenantId: string, words: string, limit: number): Promise<WrittenText[]> {
  const text = `select case_id, reasons as text from search_reasons($1, ${phrase}, $3)`;
  return tx.query<WrittenText>(unprepared(text, [tenantId, words, limit]));
}

// Newest first.
export async function listSampledNotes(
  database: Queryable,
  tenantId: string,
  words: string,
  limit: number,
): Promise<WrittenText[]> {
  const text = `
    select case_id, text
    from (
      select case_id, text, note_id
      from case_notes
      where tenant_id = $1
      order by note_id desc
      limit ${sampleTexts}
    ) as sample
    where to_tsvector('simple', text) @@ ${phrase}
    order by note_id desc
    limit $3`;
  return database.query<WrittenText>(unprepared(text, [tenantId, words, limit]));
}

export async function listNoteWords(tx: Queryable, tenantId: string, words: string, limit: number): Promise<WrittenText[]> {
  const text = `select case_id, note as text from search_notes($1, ${phrase}, $3)`;
  return tx.query<WrittenText>(unprepared(text, [tenantId, words, limit]));
}
