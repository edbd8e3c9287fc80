// A line is the one on which the record begins. The header is line 1.
export type CsvRecord = { line: number; fields: string[] };

export class CsvFault extends Error {}

// A spreadsheet runs a cell that begins with one of these as a formula, and visitors choose some of the values.
export const formula = /^[=+\-@\t\r']/;

export function csvCell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// A value of a JSON object as a cell. What is nested stays JSON.
export function csvValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return csvCell(value);
  return typeof value === "object" ? csvCell(JSON.stringify(value)) : JSON.stringify(value);
}

const recordCharactersMax = 64 * 1024;
const delimiters = [",", ";", "\t"] as const;

// Reads records from pieces of text, as RFC 4180 describes them, and keeps only one record and one piece in memory. The header
// determines the delimiter: comma, semicolon or tab. Empty lines are skipped.
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader();
  for await (const piece of pieces) yield* reader.read(piece);
  yield* reader.end();
}

// Reads a whole text. Throws CsvFault.
export function csvRecords(text: string): CsvRecord[] {
  const reader = new CsvReader();
  return [...reader.read(text), ...reader.end()];
}

class CsvReader {
  #delimiter: string | null = null;
  #line = 1;
  #isFirst = true;
  // The record so far: its first line, its complete fields, and its length.
  #begin = 1;
  #fields: string[] = [];
  #length = 0;
  #field = "";
  // "quote": inside a quoted field. "after": after a quote that either ends the field or is the first of a doubled quote.
  #state: "plain" | "quote" | "after" = "plain";
  // Text before the end of the header is known.
  #head = "";

  *read(piece: string): Generator<CsvRecord> {
    let text = piece;
    if (this.#delimiter === null) {
      this.#head += text;
      if (!this.#head.includes("\n") && this.#head.length < recordCharactersMax) return;
      text = this.#takeHead();
    }
    yield* this.#scan(text);
  }

  *end(): Generator<CsvRecord> {
    if (this.#delimiter === null) yield* this.#scan(this.#takeHead());
    if (this.#state === "quote") throw new CsvFault(`line ${this.#begin}: a quoted field does not end`);
    yield* this.#endRecord();
  }

  #takeHead(): string {
    const text = this.#head.replace(/^\uFEFF/, "");
    const [header = ""] = text.split("\n", 1);
    const counts = delimiters.map((each) => header.split(each).length);
    this.#delimiter = delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
    this.#head = "";
    return text;
  }

  *#scan(text: string): Generator<CsvRecord> {
    let start = 0;
    for (let index = 0; index < text.length; index++) {
      const char = text[index];
      if (this.#state === "quote") {
        if (char === "\n") this.#line++;
        if (char === '"') {
          this.#add(text.slice(start, index));
          this.#state = "after";
          start = index + 1;
        }
        continue;
      }
      if (char === '"' && this.#state === "after") {
        this.#add('"');
        this.#state = "quote";
        start = index + 1;
      } else if (char === '"' && this.#field === "" && start === index) {
        this.#state = "quote";
        start = index + 1;
      } else if (char === this.#delimiter || char === "\n") {
        this.#add(text.slice(start, index));
        start = index + 1;
        if (char === "\n") yield* this.#endLine();
        else this.#endField();
      }
    }
    this.#add(text.slice(start));
  }

  #add(text: string): void {
    this.#field += text;
    this.#length += text.length;
    if (this.#length > recordCharactersMax)
      throw new CsvFault(`line ${this.#begin}: the record is longer than ${recordCharactersMax} characters; is a quote missing?`);
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = "";
    this.#state = "plain";
  }

  *#endLine(): Generator<CsvRecord> {
    this.#field = this.#field.replace(/\r$/, "");
    this.#line++;
    yield* this.#endRecord();
  }

  *#endRecord(): Generator<CsvRecord> {
    this.#endField();
    const record = { line: this.#begin, fields: this.#fields };
    const isEmpty = record.fields.length === 1 && record.fields[0] === "";
    this.#fields = [];
    this.#length = 0;
    this.#begin = this.#line;
    if (isEmpty && !this.#isFirst) return;
    if (isEmpty) throw new CsvFault("line 1: the header is missing");
    this.#isFirst = false;
    yield record;
  }
}
