import { Type } from "typebox";
import { listEntries } from "../db/value-lists.ts";
import { CsvFault, csvCell } from "../domain/csv.ts";
import type { FieldError } from "../domain/failure.ts";
import { keyOf, type StoredList } from "../domain/list.ts";
import { CsvImport, CsvImportResult, csvCharactersMax, readEntries } from "../domain/list-csv.ts";
import { ListPreview, PreviewRequest } from "../domain/list-preview.ts";
import { requireEntryReach, storeEntries } from "./list-entries.ts";
import { previewValues } from "./list-previews.ts";
import { requireList } from "./lists.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { Cursor, listReply, listSignature } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

// A character takes up to 6 bytes in JSON.
const csvBytesMax = 6 * csvCharactersMax;
const csvRowsMax = 10_000;

async function importCsv(services: Services, call: Call<CsvImport>): Promise<Reply> {
  const { caller, body } = call;
  const now = services.now();
  const found = await requireList(services.database, call);
  await requireEntryReach(services.database, caller, found);
  const { entries, ...refusals } = readOrRefuse(found, body, Date.parse(now));
  const changed = await services.database.transaction((tx) => storeEntries(tx, { caller, now, name: found.name, entries }));
  return dataReply({ ...changed, ...refusals } satisfies CsvImportResult);
}

function readOrRefuse({ type }: StoredList, body: CsvImport, nowMs: number): ReturnType<typeof readEntries> {
  try {
    return readEntries(type, body, nowMs);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    throw invalid([{ field: "csv", message: `cannot be read: ${error.message}` }]);
  }
}

const csvHeader = "value,expires_at,reason,from_case_id,added_at,added_by";

async function exportCsv(services: Services, call: Call<unknown, { limit?: number; cursor?: string }>): Promise<Reply> {
  const { caller, query } = call;
  const found = await requireList(services.database, call);
  const signature = listSignature(caller, "exportList", { list_name: found.name });
  // The seal proves that the position was made below.
  const after = query.cursor === undefined ? null : (services.cursors.open(query.cursor, signature) as string);
  const limit = query.limit ?? csvRowsMax;
  const page = { list_name: found.name, after, limit: limit + 1, prefix: "" };
  const rows = await listEntries(services.database, caller.tenant_id, page);
  const shown = rows.slice(0, limit);
  const cursor = rows.length > limit ? services.cursors.seal(shown.at(-1)?.key, signature) : null;
  const lines = shown.map(({ value, expires_at, reason, from_case_id, added_at, added_by }) =>
    [value, expires_at ?? "", reason ?? "", from_case_id ?? "", added_at, added_by].map(csvCell).join(","),
  );
  const csv = `${[...(after === null ? [csvHeader] : []), ...lines].join("\r\n")}\r\n`;
  return listReply(services, { path: `/v2/${caller.slug}/lists/${found.name}/csv`, query, name: "csv", items: csv, cursor });
}

async function preview(services: Services, call: Call<PreviewRequest>): Promise<Reply> {
  const { caller, body } = call;
  const { type, kind } = await requireList(services.database, call);
  const faults = body.values.flatMap((value, index): FieldError[] => {
    const made = keyOf(type, value);
    return "problem" in made ? [{ field: `values[${index}]`, message: made.problem }] : [];
  });
  if (faults.length > 0) throw invalid(faults);
  return dataReply(await previewValues(services, caller.tenant_id, { type, kind, values: body.values }));
}

const path = "/lists/{list_name}";

export const listFileOperations: Operation[] = [
  operation({
    id: "exportList",
    method: "GET",
    path: `${path}/csv`,
    scope: "read:lists",
    tag: "Lists",
    summary: "Read a list as CSV",
    description:
      "In parts; only the first has the header. A value that a spreadsheet would run as a formula begins with an apostrophe, which an import removes again.",
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: csvRowsMax, default: csvRowsMax })),
      cursor: Cursor,
    }),
    success: {
      status: 200,
      description: "A part of the CSV text",
      schema: Type.Object(
        { csv: Type.String(), next_cursor: Type.Union([Type.String(), Type.Null()]) },
        { additionalProperties: false },
      ),
      headers: { Link: 'The next part, rel="next", if there is one.' },
    },
    problems: ["bad-request", "item-not-found"],
    handle: exportCsv,
  }),
  operation({
    id: "importList",
    method: "POST",
    path: `${path}/csv`,
    scope: "update:lists",
    tag: "Lists",
    summary: "Add entries from CSV",
    description:
      "A record with a fault is refused, and does not stop the others. The answer says how many were refused, and why.",
    body: CsvImport,
    bodyBytesMax: csvBytesMax,
    success: { status: 200, description: "What was added and what was refused", schema: CsvImportResult },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { csv: "value,expires_at,reason\n203.0.113.7,2027-01-31,Attack of 14 November\n" },
    handle: importCsv,
  }),
  operation({
    id: "previewListValues",
    method: "POST",
    path: `${path}/preview`,
    scope: "read:lists",
    // Any value can be asked about, so the answer says which accounts, devices and addresses are active.
    furtherScope: "read:enduseraccounts",
    tag: "Lists",
    summary: "See what values would have hit",
    description:
      "Searches the activity of the last 30 days, newest first, for up to 3 seconds. Nothing is changed. A list of texts hits nothing by itself. This operation also requires the scope `read:enduseraccounts`, because it reads activity.",
    body: PreviewRequest,
    success: { status: 200, description: "What the values would have hit", schema: ListPreview },
    problems: ["bad-request", "item-not-found"],
    example: { values: ["203.0.113.0/24"] },
    handle: preview,
  }),
];
