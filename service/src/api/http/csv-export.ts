import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { appendEvents } from "../../db/events.ts";
import type { Database } from "../../db/postgres/database.ts";
import { openSnapshot, type Snapshot } from "../../db/postgres/snapshot.ts";
import { csvValue } from "../../domain/csv.ts";
import { takePlace } from "../../concurrency/places.ts";
import type { Call, Operation, Services, StreamRequest } from "../operation.ts";
import { weightOf } from "./accept.ts";
import { Limited } from "./limited.ts";
import type { Reply } from "./problem.ts";

export const csvMediaType = "text/csv";
const exportsMax = 4;
const exportsOfTenantMax = 2;
const pageRowsDefault = 1_000;
// How long the result of checking the reader's permission is trusted.
const trustMs = 5_000;
// A reader that takes a few bytes at a time would keep the snapshot open for as long as it likes.
const pageTakenMs = 60_000;
const exportMsMax = 60 * 60_000;
const retryHeaders = { "retry-after": "10" };

// The member of the response that holds the items, and the items' members.
type CsvList = { name: string; columns: string[]; pageRows: number };

// Every list that is answered in pages can be read as CSV.
export function csvListOf({ method, success, query }: Operation): CsvList | null {
  const properties = propertiesOf(success.schema);
  if (method !== "GET" || properties["next_cursor"] === undefined) return null;
  const lists = Object.entries(properties).filter(([, schema]) => "items" in schema);
  const [name, schema] = lists[0] ?? [];
  const columns = Object.keys(propertiesOf(schema?.items));
  if (name === undefined || lists.length > 1 || columns.length === 0) return null;
  const limit: Facts | undefined = query?.properties["limit"];
  return { name, columns, pageRows: Math.min(limit?.maximum ?? pageRowsDefault, pageRowsDefault) };
}

// typebox's objects are JSON Schemas. These are the members of one that matter here.
type Facts = {
  properties?: Record<string, Facts>;
  items?: Facts;
  maximum?: number;
  type?: string;
  format?: string;
  enum?: unknown[];
};

function propertiesOf(schema: Facts | undefined): Record<string, Facts> {
  return schema?.properties ?? {};
}

// JSON is the default: CSV must be named, and preferred if JSON is named too.
export function prefersCsv(accept: string): boolean {
  // Nearly every request names something else, and parsing takes longer than this.
  if (!/csv/i.test(accept)) return false;
  const csv = weightOf(accept, csvMediaType) ?? 0;
  return csv > 0 && csv > (weightOf(accept, "application/json") ?? 0);
}

async function enter(tenantId: string): Promise<() => void> {
  const leave = await takePlace({ limit: "exports", key: tenantId, max: exportsMax, ofOneMax: exportsOfTenantMax });
  if (!leave) throw new Limited("exports", "Too many exports are running. Retry when one of them is done.", retryHeaders);
  return leave;
}

type Export = {
  operation: Operation;
  list: CsvList;
  database: Database;
  services: Services;
  call: Call;
  visit: StreamRequest;
};
type Page = { lines: string; rows: number; next: string | null };

// Reads the whole list from one snapshot, page by page, as fast as the reader takes it. The first page is read before the response
// begins, so that a fault is still answered as a problem.
export async function exportCsv(wanted: Export): Promise<Reply> {
  const { list, database, services, call } = wanted;
  const { tenant_id: tenantId, slug } = call.caller;
  const leave = await enter(tenantId);
  let snapshot: Snapshot | null = null;
  const end = async () => {
    leave();
    await snapshot?.end();
  };
  try {
    snapshot = await openSnapshot(database, tenantId);
    const read = pageReader(wanted, snapshot);
    const first = await read((call.query as { cursor?: string }).cursor ?? null);
    await recordExport(wanted);
    const name = `${slug}-${list.name.replaceAll("_", "-")}-${services.now().slice(0, 10)}.csv`;
    const headers = {
      "content-type": `${csvMediaType}; charset=utf-8; header=present`,
      "content-disposition": `attachment; filename="${name}"`,
      vary: "Accept",
    };
    return { status: 200, body: "", headers, stream: (to) => void sendPages(wanted, { read, first, to }).finally(end) };
  } catch (error) {
    await end();
    throw error;
  }
}

// Calls the operation itself, so the file has exactly the rows that the pages have. A limit is the number of rows in all.
function pageReader({ operation, list, services, call }: Export, snapshot: Snapshot): (cursor: string | null) => Promise<Page> {
  const inside = { ...services, database: snapshot.database };
  let left = (call.query as { limit?: number }).limit ?? Number.POSITIVE_INFINITY;
  return async (cursor) => {
    const limit = Math.min(list.pageRows, left);
    const query = { ...call.query, limit, ...(cursor !== null && { cursor }) };
    const reply = await operation.handle(inside, { ...call, query });
    // The operation's own response: its items and the next cursor.
    const { data } = JSON.parse(reply.body) as { data: { next_cursor: string | null } & Record<string, unknown> };
    const items = data[list.name] as Record<string, unknown>[];
    left -= items.length;
    const lines = items.map((item) => `${list.columns.map((column) => csvValue(item[column])).join(",")}\r\n`);
    return { lines: lines.join(""), rows: items.length, next: left > 0 ? data.next_cursor : null };
  };
}

type Sending = { read: (cursor: string | null) => Promise<Page>; first: Page; to: ServerResponse };

// If something fails after the response has begun, the connection is closed, so that nobody takes a part for the whole.
async function sendPages({ operation, list, services, call, visit }: Export, { read, first, to }: Sending): Promise<void> {
  const { slug, actor } = call.caller;
  const startMs = performance.now();
  let checkedMs = Date.now();
  let rows = 0;
  let isWhole = false;
  const timer = setTimeout(() => to.destroy(), exportMsMax).unref();
  try {
    to.write(`${list.columns.join(",")}\r\n`);
    for (let page: Page | null = first; page; page = page.next === null ? null : await read(page.next)) {
      rows += page.rows;
      if (!to.write(page.lines)) await taken(to, pageTakenMs);
      if (to.destroyed) return;
      if (Date.now() - checkedMs < trustMs) continue;
      if (!(await visit.isStillAllowed())) return;
      checkedMs = Date.now();
    }
    to.end();
    isWhole = true;
  } catch (error) {
    services.audit("an export failed", { tenant: slug, actor, list: operation.id, rows, err: error });
  } finally {
    clearTimeout(timer);
    if (!isWhole) to.destroy();
    services.audit("exported a list", {
      tenant: slug,
      actor,
      list: operation.id,
      rows,
      isWhole,
      ms: Math.round(performance.now() - startMs),
    });
  }
}

// Waits until the reader has taken what was written, or has left. A reader that takes longer than this is disconnected.
export async function taken(to: ServerResponse, withinMs: number): Promise<void> {
  // The reader may have left while the page was read. Then no event follows.
  if (to.destroyed) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  const timer = setTimeout(() => to.destroy(), withinMs).unref();
  await Promise.race([once(to, "drain", { signal }), once(to, "close", { signal })]).finally(() => waiting.abort());
  clearTimeout(timer);
}

// Who exported what is in the tenant's own log. Filters that may hold somebody's id are named without their value.
async function recordExport({ operation, services, call }: Export): Promise<void> {
  const { tenant_id: tenantId, actor } = call.caller;
  const filters = Object.entries(call.query).filter(([name]) => name !== "cursor");
  const shown = filters.map(([name, value]) => [name, isPlain(operation.query?.properties[name]) ? value : "(not recorded)"]);
  await services.database.transaction((tx) =>
    appendEvents(tx, tenantId, [
      {
        type: "tenant.list_exported",
        occurred_at: services.now(),
        actor,
        resource: { type: "tenant", id: tenantId },
        data: { list: operation.id, ...(shown.length > 0 && { filters: Object.fromEntries(shown) as Record<string, unknown> }) },
      },
    ]),
  );
}

function isPlain({ type, format, enum: choices }: Facts = {}): boolean {
  return type !== "string" || format === "date-time" || choices !== undefined;
}
