import { createReadStream, statSync } from "node:fs";
import type { ListCsvImportResult } from "@casehound/client";
import { CsvFault } from "../domain/csv.ts";
import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import { progressLine } from "./backup-progress.ts";
import { UsageFault, type Call, type Command, type Outcome } from "./command.ts";
import { listParts } from "./list-parts.ts";
import { Progress } from "./progress.ts";
import { cellText } from "./table.ts";

const shownMax = 20;

type Report = ListCsvImportResult & { rows: number };

async function check({ positionals }: Omit<Call, "store">): Promise<void> {
  const file = positionals[1] ?? "";
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageFault(`${file} is not a file`);
}

// Sends the file in parts while it is read, so its size does not matter. An entry can be sent again without harm, so after a
// failure the same command goes on.
async function importFile({ client, positionals: [name = "", file = ""], terminal }: ApiCall): Promise<Outcome> {
  const report: Report = { rows: 0, added: 0, updated: 0, unchanged: 0, refused: 0, reasons: [], refusals: [] };
  const progress = new Progress();
  const { size } = statSync(file);
  const stream = createReadStream(file, { encoding: "utf8", highWaterMark: 256 * 1024 });
  try {
    for await (const { records, ...body } of listParts(stream)) {
      addPart(report, await client.importList(name, body), records);
      const { bytesRead: bytes } = stream;
      progress.show(() => progressLine({ what: "importing", share: bytes / Math.max(size, 1), rows: report.rows, bytes }));
    }
  } catch (error) {
    progress.clear();
    const { added, updated } = report;
    if (report.rows > 0) terminal.err(`casehound: ${added} entries were added and ${updated} were updated before this\n`);
    throw error instanceof CsvFault ? new Failure("bad-request", error.message, { cause: error }) : error;
  } finally {
    progress.clear();
    stream.destroy();
  }
  return { result: report, text: reportText(report), isFailure: report.refused > 0 };
}

function addPart(report: Report, part: ListCsvImportResult, records: number): void {
  report.rows += records;
  for (const name of ["added", "updated", "unchanged", "refused"] as const) report[name] += part[name];
  const counts = new Map(report.reasons.map(({ reason, count }) => [reason, count]));
  for (const { reason, count } of part.reasons) counts.set(reason, (counts.get(reason) ?? 0) + count);
  report.reasons = [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count);
  report.refusals.push(...part.refusals.slice(0, shownMax - report.refusals.length));
}

const shown = (number: number) => number.toLocaleString("en");

function reportText({ rows, added, updated, unchanged, refused, reasons, refusals }: Report): string {
  return [
    `${shown(rows)} rows: ${shown(added)} entries added, ${shown(updated)} updated, ${shown(unchanged)} unchanged, ${shown(refused)} refused`,
    ...reasons.map(({ reason, count }) => `${shown(count)}: ${cellText(reason)}`),
    ...refusals.map(({ line, value }) => `  line ${line}: ${cellText(value)}`),
    ...(refused > refusals.length ? [`  and ${shown(refused - refusals.length)} more`] : []),
  ].join("\n");
}

export const listImportCommand: Command = {
  name: "lists import",
  usage: "lists import <list> <file.csv>",
  summary: "adds entries from a CSV file, and reports what was refused",
  positionals: { min: 2, max: 2 },
  options: apiOptions,
  wants,
  check,
  run: overApi(importFile),
};
