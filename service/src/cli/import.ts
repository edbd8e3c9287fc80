import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError } from "@casehound/client";
import { Failure } from "../domain/failure.ts";
import { fullRetrySeconds, historyDaysMax, type HistoryBatchResult, type PastActivity } from "../domain/history.ts";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, type Call, type Command, type Options, type Outcome } from "./command.ts";
import { CsvFault } from "../domain/csv.ts";
import { checkFile, ImportReader, type Checked, type FileFormat, type ImportFile } from "./import-file.ts";
import { members, readColumnMap } from "./import-rows.ts";
import { reportOn, reportText, type ImportReport } from "./import-report.ts";
import { importLine, Progress, scoredOf } from "./progress.ts";
import { cellText } from "./table.ts";

const formats = ["csv", "jsonl"] as const;
const pollMs = 500;
const stuckMs = 60_000;

const mapsOf = ({ map }: Options) => (Array.isArray(map) ? map.filter((each) => typeof each === "string") : []);
const knownAfter = (options: Options) => readWhole(options, "known-after", { least: 0, most: 365, fallback: 7 });

function formatOf(file: string, options: Options): FileFormat {
  const ending = file.toLowerCase().split(".").at(-1) ?? "";
  const guessed = { csv: "csv", tsv: "csv", txt: "csv", jsonl: "jsonl", ndjson: "jsonl", json: "jsonl" }[ending];
  const format = readOneOf(options, "format", formats) ?? formats.find((each) => each === guessed);
  if (format === undefined)
    throw new UsageFault(`the name of ${file} ends neither in .csv nor in .jsonl: add --format csv or --format jsonl`);
  return format;
}

async function check({ positionals, options }: Omit<Call, "store">): Promise<void> {
  const file = positionals[0] ?? "";
  const map = readColumnMap(mapsOf(options));
  knownAfter(options);
  if (formatOf(file, options) === "jsonl" && map.size > 0)
    throw new UsageFault("--map is only for CSV: in JSON lines, each line names its members itself");
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageFault(`${file} is not a file`);
}

type Sent = HistoryBatchResult;

// First the whole file is checked, then it is sent, and then the service scores it in order of time. Each activity is stored only
// once. So after a failure at any point, running the same command again continues the import.
async function importHistory(call: ApiCall): Promise<Outcome> {
  const { client, positionals, options, slug, terminal } = call;
  const file = positionals[0] ?? "";
  const settings = { slug, nowMs: Date.now(), knownAfterDays: knownAfter(options) };
  const given: ImportFile = { file, format: formatOf(file, options), map: readColumnMap(mapsOf(options)), settings };
  const { kept_from: keptFrom } = await client.getImport();
  const checked = await checkWhole(given, keptFrom);
  const isDry = options["dry-run"] === true;
  const isRefused = checked.bad > 0 && options["skip-bad"] !== true;
  if (isDry || isRefused) {
    const text = `${checkedText(checked, keptFrom)}\nNothing was imported.`;
    return { result: { ...checked, is_dry_run: isDry }, text, isFailure: isRefused };
  }
  if (checked.too_old > 0) terminal.err(`casehound: ${tooOldText(checked, keptFrom)}\n`);
  const sent = await sendAll(call, given, { ...checked, keptFrom }).catch((error: unknown) => {
    if (!(error instanceof Failure))
      terminal.err("casehound: not all activities were sent; run the same command again to continue\n");
    throw error;
  });
  const { from, until } = checked;
  await scoreAll(call, until);
  const report =
    options["no-report"] === true || from === null || until === null ? null : await makeReport(call, { from, until });
  return {
    result: { ...checked, ...sent, is_dry_run: false, ...(report && { report }) },
    text: [...sentLines(checked, sent), ...(report ? ["", reportText(report)] : [])].join("\n"),
  };
}

async function checkWhole(given: ImportFile, keptFrom: string): Promise<Checked> {
  const reader = new ImportReader(given);
  const progress = new Progress();
  const beganMs = Date.now();
  try {
    return await checkFile(reader, keptFrom, () => {
      progress.show(() => importLine({ what: "checking", share: reader.share, lines: reader.lines, beganMs }));
    });
  } catch (error) {
    throw error instanceof CsvFault ? new Failure("bad-request", error.message, { cause: error }) : error;
  } finally {
    progress.clear();
  }
}

type Order = Pick<Checked, "until" | "is_in_order">;

async function sendAll(call: ApiCall, given: ImportFile, { keptFrom, ...order }: Order & { keptFrom: string }): Promise<Sent> {
  const reader = new ImportReader(given);
  const progress = new Progress();
  const beganMs = Date.now();
  const sent: Sent = { accepted: 0, duplicates: 0, reused: 0, too_old: 0, unlabelled: 0 };
  try {
    for await (const activities of reader.batches(keptFrom)) {
      const { accepted, duplicates, reused, too_old, unlabelled } = await send(call, activities, order);
      sent.accepted += accepted;
      sent.duplicates += duplicates;
      sent.reused += reused;
      sent.too_old += too_old;
      sent.unlabelled += unlabelled;
      progress.show(() => importLine({ what: "sending", share: reader.share, lines: reader.lines, beganMs }));
    }
  } finally {
    progress.clear();
  }
  return sent;
}

const fullText =
  "No more activities may wait to be scored, and the file is not in order of time. Sort it by time, and run the command again. Then it scores what is waiting before it sends the rest";

// If no more activities may wait, scores what is waiting and then goes on. Everything that is still to be sent must be later.
async function send(call: ApiCall, activities: PastActivity[], { until, is_in_order }: Order): Promise<Sent> {
  try {
    return await call.client.importActivities({ activities });
  } catch (error) {
    if (!(error instanceof ProblemError) || error.retryAfterMs !== fullRetrySeconds * 1_000) throw error;
    if (!is_in_order) throw new Failure("rate-limited", fullText, { cause: error });
    await scoreAll(call, until);
    return call.client.importActivities({ activities });
  }
}

// Also scores what an interrupted run sent earlier. `until` is the time of the last activity in the file.
async function scoreAll({ client, terminal }: ApiCall, until: string | null): Promise<void> {
  const progress = new Progress();
  const beganMs = Date.now();
  const { waiting: all, oldest_at: from } = await client.startImport();
  const before = { all, from, until: until ?? undefined };
  let last = { place: "", atMs: beganMs };
  try {
    for (;;) {
      const status = await client.getImport();
      const { waiting, is_running: isRunning, oldest_at: oldest = "" } = status;
      if (waiting === 0 && !isRunning) return;
      // The import ended just before more activity was stored, so start it again.
      if (!isRunning) await client.startImport();
      const place = `${waiting} ${oldest}`;
      if (place !== last.place) last = { place, atMs: Date.now() };
      if (Date.now() - last.atMs > stuckMs) {
        terminal.err("casehound: nothing has been scored for a minute. Is a process with the role engine running?\n");
        last.atMs = Date.now();
      }
      progress.show(() => importLine({ what: "scoring", ...scoredOf(before, status), beganMs }));
      await sleep(pollMs);
    }
  } finally {
    progress.clear();
  }
}

async function makeReport({ client }: ApiCall, span: { from: string; until: string }): Promise<ImportReport> {
  const progress = new Progress();
  try {
    return await reportOn(client, span, (percent) => progress.show(() => `training ${Math.floor(percent)}%`));
  } finally {
    progress.clear();
  }
}

const count = (number: number) => number.toLocaleString("en");

function tooOldText({ too_old, activities }: Checked, keptFrom: string): string {
  return `${count(too_old)} of ${count(too_old + activities)} activities are from before ${keptFrom.slice(0, 10)} and are left out, because activity is not kept that long (see RETENTION_DAYS and the tenant's retention_days), or because it is older than ${historyDaysMax} days`;
}

function checkedText(checked: Checked, keptFrom: string): string {
  const { lines, activities, types, frauds, too_old, from, until, bad, bad_first } = checked;
  const span = from === null || until === null ? "" : `, from ${from} to ${until}`;
  return [
    `${count(lines)} lines: ${count(activities)} activities${span}; known frauds: ${count(frauds)}; bad lines: ${count(bad)}`,
    ...Object.entries(types).map(([type, of]) => `  ${type}  ${count(of)}`),
    ...(too_old > 0 ? [tooOldText(checked, keptFrom)] : []),
    ...(bad > 0 ? ["bad:"] : []),
    ...bad_first.map(({ line, fault }) => `  line ${line}: ${cellText(fault)}`),
    ...(bad > bad_first.length ? [`  and ${count(bad - bad_first.length)} more`] : []),
  ].join("\n");
}

function sentLines({ frauds, bad }: Checked, { accepted, duplicates, reused, too_old, unlabelled }: Sent): string[] {
  return [
    `activities imported: ${count(accepted)}; already stored: ${count(duplicates)}; known frauds in the file: ${count(frauds)}`,
    ...(reused > 0
      ? [
          `left out, because the id belongs to a stored activity with different content: ${count(reused)} (are the values of activity_id unique?)`,
        ]
      : []),
    ...(too_old > 0 ? [`left out, because they became too old during the import: ${count(too_old)}`] : []),
    ...(unlabelled > 0
      ? [
          `known frauds that were not labelled, because they are live activity that has not been scored yet or is no longer kept: ${count(unlabelled)} (run the same command again later)`,
        ]
      : []),
    ...(bad > 0 ? [`bad lines left out: ${count(bad)}`] : []),
  ];
}

export const importCommand: Command = {
  name: "import",
  usage: "import <file.csv|file.jsonl> [--map <member>=<column>,...] [--dry-run]",
  summary: "imports activity from before you started to use Casehound, which learns from it what is usual and opens no cases",
  positionals: { min: 1, max: 1 },
  options: {
    ...apiOptions,
    map: {
      type: "string",
      multiple: true,
      describe: `CSV: the column for each member, such as amount=Total, or a constant, such as type=:payment. Members: ${members.join(", ")}, attributes.<name>`,
    },
    format: { type: "string", describe: "csv or jsonl (default: from the file's extension)", values: formats },
    "known-after": {
      type: "string",
      describe: "if the file gives no known_at: how many days after it happened a fraud became known (default 7)",
    },
    "skip-bad": { type: "boolean", describe: "leaves out bad lines; without this option, one bad line stops the import" },
    "dry-run": { type: "boolean", describe: "checks the whole file and says what would be imported, but changes nothing" },
    "no-report": { type: "boolean", describe: "trains no model and prints no report on your known frauds" },
  },
  wants,
  check,
  run: overApi(importHistory),
};
