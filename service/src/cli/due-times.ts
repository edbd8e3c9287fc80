import type { DueTimes } from "@casehound/client";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import type { Call, Command, Outcome } from "./command.ts";
import { readJsonFile } from "./json-file.ts";
import { table } from "./table.ts";

type DueTimesFile = Omit<DueTimes, "due_times_version"> & { due_times_version?: number };

const readTimes = ({ positionals: [file = ""] }: Pick<Call, "positionals">) => readJsonFile(file, "targets") as DueTimesFile;

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function dueTimesText({ due_times_version, days, start, end, days_off, targets }: DueTimes): string {
  const off = days_off.length === 0 ? "" : `, except ${days_off.join(", ")}`;
  const first = `version ${due_times_version}, ${days.map((day) => weekdays[day - 1]).join(" ")} from ${start} to ${end}${off}`;
  const rows = targets.map(({ min_score, label = "any", hours }) => [`${min_score} or higher`, label, hours]);
  return [first, "", rows.length === 0 ? "no due times" : table(["score", "label", "working hours"], rows)].join("\n");
}

async function show({ client }: ApiCall): Promise<Outcome> {
  const result = await client.getDueTimes();
  return { result, text: dueTimesText(result) };
}

// With a version in the file, the due times are replaced only if they still have that version.
async function set(call: ApiCall): Promise<Outcome> {
  const times = readTimes(call);
  const due_times_version = times.due_times_version ?? (await call.client.getDueTimes()).due_times_version;
  const result = await call.client.updateDueTimes({ ...times, due_times_version });
  return { result, text: `changed: ${dueTimesText(result)}` };
}

export const dueTimeCommands: Command[] = [
  {
    name: "due-times show",
    usage: "due-times show",
    summary: "shows how soon cases must be decided",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(show),
  },
  {
    name: "due-times set",
    usage: "due-times set <file.json>",
    summary: "replaces the due times with those in a file, in the format of due-times show --json",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    check: async (call) => void readTimes(call),
    run: overApi(set),
  },
];
