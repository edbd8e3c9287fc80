import type { List, ListEntry } from "@casehound/client";
import { csvRecords } from "../domain/csv.ts";
import { expiryOf } from "../domain/list-csv.ts";
import { apiOptions, overApi, readWhole, wants, type ApiCall } from "./api.ts";
import { textOption, type Call, type Command, type Outcome } from "./command.ts";
import { listImportCommand } from "./list-import.ts";
import { requireNew, writeNew } from "./new-file.ts";
import { Progress } from "./progress.ts";
import { listText, rows, table } from "./table.ts";

// As many as one request takes.
const valuesMax = 1_000;

async function list({ client }: ApiCall): Promise<Outcome> {
  const result = await client.listLists();
  const lines = result.lists.map((each) => [each.name, each.type, each.kind, each.entries, each.hits_7d, usersOf(each)]);
  const text = table(["list", "type", "kind", "entries", "hits in 7 days", "used by"], lines);
  return { result, text: lines.length === 0 ? "no lists" : text };
}

function usersOf({ used_by, is_in_policy: isInPolicy }: List): string | undefined {
  const users = [...used_by, ...(isInPolicy ? ["the policy"] : [])];
  return users.length === 0 ? undefined : users.join(", ");
}

async function show({ client, positionals: [name = ""], options }: ApiCall): Promise<Outcome> {
  const limit = readWhole(options, "limit", { least: 1, most: 1000, fallback: 20 });
  const prefix = textOption(options, "prefix");
  const found = await client.getList(name);
  const page = await client.listListEntries(name, { limit, ...(prefix !== undefined && { prefix }) });
  const facts = rows({
    list: found.name,
    type: found.type,
    kind: found.kind === "block" ? `${found.kind}, ${found.label}` : found.kind,
    description: found.description === "" ? null : found.description,
    entries: found.entries,
    "hits in 7 days": found.hits_7d,
    "used by": usersOf(found),
    "last change": `${found.updated_at} by ${found.updated_by}`,
  });
  const entries = page.entries.length === 0 ? "no entries" : listText(entryTable(page.entries), page);
  return { result: { list: found, ...page }, text: `${facts}\n\n${entries}` };
}

function entryTable(entries: ListEntry[]): string {
  const lines = entries.map((each) => [
    each.value,
    each.is_expired ? `${each.expires_at} (expired)` : each.expires_at,
    `${each.added_at} by ${each.added_by}`,
    each.reason,
    each.from_case_id,
  ]);
  return table(["value", "expires", "added", "reason", "from case"], lines);
}

async function add({ client, positionals: [name = "", ...values], options }: ApiCall): Promise<Outcome> {
  const [expires, reason, from_case_id] = ["expires", "reason", "case"].map((each) => textOption(options, each));
  const more = {
    ...(expires !== undefined && { expires_at: expiryOf(expires) }),
    ...(reason !== undefined && { reason }),
    ...(from_case_id !== undefined && { from_case_id }),
  };
  const result = await client.addListEntries(name, { entries: values.map((value) => ({ value, ...more })) });
  const { added, updated, unchanged } = result;
  return { result, text: `${added} added, ${updated} updated, ${unchanged} unchanged` };
}

async function remove({ client, positionals: [name = "", ...values] }: ApiCall): Promise<Outcome> {
  const result = await client.removeListEntries(name, { values });
  return { result, text: `${result.removed} of ${values.length} removed` };
}

async function checkExport({ positionals }: Omit<Call, "store">): Promise<void> {
  requireNew(positionals[1] ?? "");
}

async function exportFile({ client, positionals: [name = "", file = ""] }: ApiCall): Promise<Outcome> {
  const progress = new Progress();
  let records = 0;
  async function* parts(): AsyncGenerator<string> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const part = await client.exportList(name, cursor === undefined ? {} : { cursor });
      records += csvRecords(part.csv).length;
      progress.show(() => `${records.toLocaleString("en")} lines written`);
      yield part.csv;
      cursor = part.next_cursor;
    }
  }
  try {
    await writeNew(file, parts());
  } finally {
    progress.clear();
  }
  const entries = Math.max(records - 1, 0);
  return { result: { file, entries }, text: `${entries.toLocaleString("en")} entries in ${file}` };
}

const none = { positionals: { min: 0, max: 0 }, options: apiOptions, wants, run: overApi(list) };
const summary = "lists the tenant's lists of values";
const changing = { positionals: { min: 2, max: 1 + valuesMax }, wants };

export const listCommands: Command[] = [
  { ...none, name: "lists", usage: "lists", summary: "the same as lists list" },
  { ...none, name: "lists list", usage: "lists list", summary },
  {
    name: "lists show",
    usage: "lists show <list> [--prefix <text>] [--limit <n>]",
    summary: "shows a list and its first entries",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      prefix: { type: "string", describe: "only values that begin like this" },
      limit: { type: "string", describe: "how many entries, 1 to 1000 (default 20)" },
    },
    wants,
    run: overApi(show),
  },
  {
    ...changing,
    name: "lists add",
    usage: "lists add <list> <value>... [--expires <day|time>] [--reason <text>] [--case <case_id>]",
    summary: "adds values to a list",
    options: {
      ...apiOptions,
      expires: { type: "string", describe: "a day such as 2026-12-31, or a UTC time such as 2026-12-31T12:00:00Z" },
      reason: { type: "string", describe: "why the values are added" },
      case: { type: "string", describe: "the id of the case that led to adding the values" },
    },
    run: overApi(add),
  },
  {
    ...changing,
    name: "lists remove",
    usage: "lists remove <list> <value>...",
    summary: "removes values from a list",
    options: apiOptions,
    run: overApi(remove),
  },
  listImportCommand,
  {
    name: "lists export",
    usage: "lists export <list> <file.csv>",
    summary: "writes all entries of a list to a CSV file",
    positionals: { min: 2, max: 2 },
    options: apiOptions,
    wants,
    check: checkExport,
    run: overApi(exportFile),
  },
];
