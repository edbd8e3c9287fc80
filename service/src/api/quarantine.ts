import { Type } from "typebox";
import { listQuarantine, listQuarantineCounts } from "../db/quarantine.ts";
import { QuarantineCount, QuarantineEntry, daysKept, quarantineReasons } from "../domain/quarantine.ts";
import { operation, type Call, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listReply, listSignature } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

async function list(services: Services, { caller, query }: Call): Promise<Reply> {
  const { limit = 1000, cursor, ...filter } = query as { reason?: string; limit?: number; cursor?: string };
  const signature = listSignature(caller, "listQuarantine", filter);
  const before = cursor === undefined ? null : String(services.cursors.open(cursor, signature));
  const now = services.now();
  const page = { ...filter, before, limit: limit + 1, now };
  const [found, counts] = await Promise.all([
    listQuarantine(services.database, caller.tenant_id, page),
    listQuarantineCounts(services.database, caller.tenant_id, now),
  ]);
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const next = last ? services.cursors.seal(last.quarantine_id, signature) : null;
  const path = `/v2/${caller.slug}/quarantine`;
  const reply = listReply(services, { path, query, name: "quarantine", items, cursor: next });
  return { ...reply, body: JSON.stringify({ data: { quarantine: items, counts, next_cursor: next } }) };
}

export const quarantineOperations: Operation[] = [
  operation({
    id: "listQuarantine",
    method: "GET",
    path: "/quarantine",
    scope: "read:metrics",
    tag: "Activity",
    summary: "List quarantined browser events",
    description: `Newest first, from the last ${daysKept} days, with counts by day and reason. At most 1,000 entries are kept per day; all are counted.`,
    query: Type.Object({
      reason: Type.Optional(Type.Enum(quarantineReasons)),
      limit: Limit,
      cursor: Cursor,
    }),
    success: {
      status: 200,
      description: "A page of entries, and the counts",
      schema: Type.Object(
        {
          quarantine: Type.Array(QuarantineEntry),
          counts: Type.Array(QuarantineCount),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: false },
      ),
      headers: { Link: 'The next page, rel="next", if there is one.' },
    },
    problems: ["bad-request"],
    handle: list,
  }),
];
