import type { Snooze } from "@casehound/client";
import { apiOptions, overApi, readWhole, wants, type ApiCall } from "./api.ts";
import type { Command, Outcome } from "./command.ts";
import { listText, table } from "./table.ts";

async function list({ client, options }: ApiCall): Promise<Outcome> {
  const limit = readWhole(options, "limit", { least: 1, most: 1000, fallback: 20 });
  const result = await client.listSnoozes({ limit, ...(options["all"] !== true && { is_active: true }) });
  const lines = result.snoozes.map((each) => [
    each.snooze_id,
    each.is_active ? `until ${each.until}` : `ended ${each.ended_at ?? each.until}: ${each.ended_because ?? "expired"}`,
    each.hits,
    each.kept,
    subjectOf(each),
    each.rules.join(", "),
    each.case_id,
  ]);
  const columns = ["snooze", "state", "hits", "kept", "about", "rules", "case"];
  return { result, text: lines.length === 0 ? "no snoozes" : listText(table(columns, lines), result) };
}

function subjectOf({ subject, scope, value }: Snooze): string {
  return value === undefined ? subject : `${subject}, ${scope} ${value}`;
}

async function end({ client, positionals: [id = ""] }: ApiCall): Promise<Outcome> {
  await client.endSnooze(id);
  return { result: { snooze_id: id }, text: `${id} has ended` };
}

export const snoozeCommands: Command[] = [
  {
    name: "snoozes",
    usage: "snoozes [--all] [--limit <n>]",
    summary: "lists which rules are quiet, about what and until when, and how much that kept from the queue",
    positionals: { min: 0, max: 0 },
    options: {
      ...apiOptions,
      all: { type: "boolean", describe: "also the snoozes that have ended" },
      limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
    },
    wants,
    run: overApi(list),
  },
  {
    name: "snoozes end",
    usage: "snoozes end <snooze_id>",
    summary: "ends a snooze, so that its rules count again",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(end),
  },
];
