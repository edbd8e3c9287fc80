import { createReadStream, statSync } from "node:fs";
import type { LabelBatchResult, NewLabel } from "@casehound/client";
import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import { progressLine } from "./backup-progress.ts";
import { UsageFault, textOption, type Call, type Command, type Outcome } from "./command.ts";
import { CsvFault, readCsv } from "../domain/csv.ts";
import { labelColumns, labelReader, readMap } from "./label-rows.ts";
import { Progress } from "./progress.ts";
import { cellText } from "./table.ts";

const batchMax = 1_000;
const shownMax = 20;

type Line = { line: number; label: NewLabel };
type Report = {
  rows: number;
  stored: number;
  unchanged: number;
  not_found: number;
  not_found_first: { line: number; id: string }[];
  bad: number;
  bad_first: { line: number; fault: string }[];
};

async function check({ positionals, options }: Omit<Call, "store">): Promise<void> {
  readMap(textOption(options, "map"));
  const file = positionals[0] ?? "";
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageFault(`${file} is not a file`);
}

// Sends the file in batches while it is read, so its size does not matter. Labels can be sent again without harm, so after a
// failure the same command goes on.
async function importLabels({ client, positionals, options, terminal }: ApiCall): Promise<Outcome> {
  const file = positionals[0] ?? "";
  const isDry = options["dry-run"] === true;
  const report: Report = { rows: 0, stored: 0, unchanged: 0, not_found: 0, not_found_first: [], bad: 0, bad_first: [] };
  const progress = new Progress();
  const { size } = statSync(file);
  const stream = createReadStream(file, { encoding: "utf8", highWaterMark: 256 * 1024 });
  const show = () => {
    const { bytesRead: bytes } = stream;
    progress.show(() =>
      progressLine({ what: isDry ? "checking" : "importing", share: bytes / Math.max(size, 1), rows: report.rows, bytes }),
    );
  };
  try {
    const lines = readLabels(stream, { map: textOption(options, "map"), report });
    for await (const batch of batches(lines)) {
      if (!isDry) addResult(report, batch, await client.createLabels({ labels: batch.map(({ label }) => label) }));
      show();
    }
  } catch (error) {
    progress.clear();
    const { stored, unchanged } = report;
    if (!isDry) terminal.err(`casehound: ${stored} labels were stored and ${unchanged} were unchanged before this\n`);
    throw error instanceof CsvFault ? new Failure("bad-request", error.message, { cause: error }) : error;
  } finally {
    progress.clear();
    stream.destroy();
  }
  return { result: { ...report, is_dry_run: isDry }, text: reportText(report, isDry), isFailure: report.bad > 0 };
}

async function* readLabels(
  stream: AsyncIterable<string>,
  { map, report }: { map: string | undefined; report: Report },
): AsyncGenerator<Line> {
  const records = readCsv(stream);
  const header = (await records.next()).value;
  if (!header) throw new CsvFault("the file is empty");
  const read = labelReader(header, { map: readMap(map), nowMs: Date.now() });
  for await (const record of records) {
    report.rows++;
    const parsed = read(record);
    if ("label" in parsed) yield { line: record.line, label: parsed.label };
    else if (++report.bad <= shownMax) report.bad_first.push({ line: record.line, fault: parsed.fault });
  }
}

async function* batches(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function addResult(report: Report, batch: Line[], { stored, unchanged, not_found }: LabelBatchResult): void {
  report.stored += stored;
  report.unchanged += unchanged;
  report.not_found += not_found.length;
  for (const index of not_found.slice(0, Math.max(0, shownMax - report.not_found_first.length))) {
    const line = batch[index];
    if (line) report.not_found_first.push({ line: line.line, id: line.label.activity_id ?? line.label.order_id ?? "" });
  }
}

const count = (number: number) => number.toLocaleString("en");

function reportText(report: Report, isDry: boolean): string {
  const { rows, stored, unchanged, not_found, not_found_first, bad, bad_first } = report;
  const first = isDry
    ? `${count(rows - bad)} of ${count(rows)} rows are labels; nothing was sent`
    : `${count(rows)} rows: ${count(stored)} labels stored, ${count(unchanged)} unchanged, ${count(not_found)} not found, ${count(bad)} bad`;
  const more = (all: number, shown: unknown[]) => (all > shown.length ? [`  and ${count(all - shown.length)} more`] : []);
  return [
    first,
    ...(not_found > 0 ? ["not found:"] : []),
    ...not_found_first.map(({ line, id }) => `  line ${line}: ${cellText(id)}`),
    ...more(not_found, not_found_first),
    ...(bad > 0 ? ["bad:"] : []),
    ...bad_first.map(({ line, fault }) => `  line ${line} ${cellText(fault)}`),
    ...more(bad, bad_first),
  ].join("\n");
}

export const labelCommands: Command[] = [
  {
    name: "labels import",
    usage: "labels import <file.csv> [--map <column>=<header>,...] [--dry-run]",
    summary: "labels activities or orders as frauds, from a file such as a list of chargebacks",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      map: { type: "string", describe: `the file's names of the columns ${labelColumns.join(", ")}` },
      "dry-run": { type: "boolean", describe: "reads the file and reports bad lines, and sends nothing" },
    },
    wants,
    check,
    run: overApi(importLabels),
  },
];
