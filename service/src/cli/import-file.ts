import { createReadStream, statSync } from "node:fs";
import { shownTime } from "../domain/text.ts";
import type { PastActivity } from "../domain/history.ts";
import { CsvFault, readCsv } from "../domain/csv.ts";
import { lineReader, recordReader, type ColumnMap, type ImportSettings, type Parsed } from "./import-rows.ts";
import { readLines } from "./jsonl.ts";

export type FileFormat = "csv" | "jsonl";
export type Checked = {
  lines: number;
  activities: number;
  types: Record<string, number>;
  frauds: number;
  too_old: number;
  from: string | null;
  until: string | null;
  // Whether no activity is older than one before it.
  is_in_order: boolean;
  bad: number;
  bad_first: { line: number; fault: string }[];
};
export type ImportFile = { file: string; format: FileFormat; map: ColumnMap; settings: ImportSettings };
type Row = { line: number } & Parsed;

const shownMax = 20;
const batchMax = 1_000;
// Below the API's limit of 2 MiB. A character takes up to three bytes.
const batchCharactersMax = 600_000;

// Reads a file piece by piece, so its size does not matter. `share` is how much of it has been read.
export class ImportReader {
  readonly #given: ImportFile;
  readonly #size: number;
  #bytes = 0;
  lines = 0;

  constructor(given: ImportFile) {
    this.#given = given;
    this.#size = statSync(given.file).size;
  }

  get share(): number {
    return Math.min(this.#bytes / Math.max(this.#size, 1), 1);
  }

  async *rows(): AsyncGenerator<Row> {
    const { file, format } = this.#given;
    const stream = createReadStream(file, { encoding: "utf8", highWaterMark: 256 * 1024 });
    try {
      for await (const row of format === "csv" ? this.#records(stream) : this.#texts(stream)) {
        this.lines++;
        this.#bytes = stream.bytesRead;
        yield row;
      }
    } finally {
      stream.destroy();
    }
  }

  // Valid activities that are kept, in batches that the API accepts.
  async *batches(keptFrom: string): AsyncGenerator<PastActivity[]> {
    let batch: PastActivity[] = [];
    let characters = 0;
    for await (const row of this.rows()) {
      if (!("past" in row) || shownTime(row.past.occurred_at) < keptFrom) continue;
      batch.push(row.past);
      characters += JSON.stringify(row.past).length;
      if (batch.length < batchMax && characters < batchCharactersMax) continue;
      yield batch;
      [batch, characters] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  async *#records(stream: AsyncIterable<string>): AsyncGenerator<Row> {
    const { map, settings } = this.#given;
    const records = readCsv(stream);
    const header = (await records.next()).value;
    if (!header) throw new CsvFault("the file is empty");
    const read = recordReader(header, { map, ...settings });
    for await (const record of records) yield { line: record.line, ...read(record) };
  }

  async *#texts(stream: AsyncIterable<string>): AsyncGenerator<Row> {
    const read = lineReader(this.#given.settings);
    for await (const { line, text } of readLines(stream))
      yield { line, ...(text === null ? { fault: "is longer than 65,536 characters" } : read(text)) };
  }
}

// Reads the whole file and says what would be imported.
export async function checkFile(reader: ImportReader, keptFrom: string, onRow: () => void): Promise<Checked> {
  const found: Checked = {
    lines: 0,
    activities: 0,
    types: {},
    frauds: 0,
    too_old: 0,
    from: null,
    until: null,
    is_in_order: true,
    bad: 0,
    bad_first: [],
  };
  for await (const row of reader.rows()) {
    found.lines++;
    onRow();
    if ("past" in row) add(found, row.past, keptFrom);
    else if (++found.bad <= shownMax) found.bad_first.push({ line: row.line, fault: row.fault });
  }
  return found;
}

// Times can have any number of digits, so they are compared in one form.
function add(found: Checked, { type, occurred_at, fraudulent }: PastActivity, keptFrom: string): void {
  const at = shownTime(occurred_at);
  if (at < keptFrom) {
    found.too_old++;
    return;
  }
  found.activities++;
  found.types[type] = (found.types[type] ?? 0) + 1;
  found.frauds += fraudulent === true ? 1 : 0;
  if (found.from === null || at < found.from) found.from = at;
  if (found.until === null || at >= found.until) found.until = at;
  else found.is_in_order = false;
}
