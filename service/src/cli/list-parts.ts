import type { ListCsvImport } from "@casehound/client";
import { CsvFault, readCsv, type CsvRecord } from "../domain/csv.ts";
import { columnsOf } from "../domain/list-csv.ts";

const columns = ["value", "expires_at", "reason"];
// The service takes twice as many. A record, which has at most 64 Ki, ends the part.
const charactersMax = 500_000;
const emptyLinesMax = 1_000;

export type ListPart = Required<ListCsvImport> & { records: number };

// Splits a file into parts that the service takes, while it is read. Each part has a header, and its records keep their distance in
// lines, so that the service's messages name the right lines. Throws CsvFault.
export async function* listParts(pieces: AsyncIterable<string>): AsyncGenerator<ListPart> {
  const records = readCsv(pieces);
  const header = (await records.next()).value;
  if (!header) throw new CsvFault("the file is empty");
  const names = columnsOf(header);
  const part = new Part(columns.map((name) => (names ?? ["value"]).indexOf(name)));
  if (!names) part.add(header);
  for await (const record of records) {
    if (part.isFull(record)) yield part.take();
    part.add(record);
  }
  if (part.records > 0) yield part.take();
}

class Part {
  readonly #places: number[];
  #rows: string[] = [];
  #characters = 0;
  #firstLine = 1;
  #nextLine = 1;

  constructor(places: number[]) {
    this.#places = places;
  }

  get records(): number {
    return this.#rows.length;
  }

  isFull({ line }: CsvRecord): boolean {
    return this.records > 0 && (this.#characters >= charactersMax || line - this.#nextLine > emptyLinesMax);
  }

  add({ line, fields }: CsvRecord): void {
    if (this.records === 0) [this.#firstLine, this.#nextLine] = [line, line];
    const cells = this.#places.map((place) => quoted(fields[place] ?? "")).join(",");
    // The lines between two records are empty, or belong to a column that is left out.
    const row = "\n".repeat(Math.max(line - this.#nextLine, 0)) + cells;
    this.#rows.push(row);
    this.#characters += row.length + 1;
    this.#nextLine = line + cells.split("\n").length;
  }

  take(): ListPart {
    const csv = [columns.join(","), ...this.#rows].join("\n");
    const part = { csv, first_line: this.#firstLine, records: this.records };
    [this.#rows, this.#characters] = [[], 0];
    return part;
  }
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
