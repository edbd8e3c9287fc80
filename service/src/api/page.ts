import { Type, type TSchema } from "typebox";
import { canonicalJson } from "./json.ts";
import { jsonMediaType, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./problem.ts";

export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }));
export const Cursor = Type.Optional(Type.String({ description: "As given by next_cursor, for the same filters and sort." }));

// What a list answers with: the items under their name, and where the next page begins.
export function pageOf(name: string, item: TSchema, description: string): Operation["success"] {
  const members = { [name]: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) };
  const schema = Type.Object(members, { additionalProperties: false });
  return { status: 200, description, schema, headers: { Link: 'The next page, rel="next", where there is one.' } };
}

// All that a cursor is good for: no other tenant, list, filter or sort.
export function listSignature(caller: Caller, list: string, filter: Record<string, unknown>): string {
  return `${caller.tenant_id} ${list} ${canonicalJson(filter)}`;
}

type Page = { path: string; query: Record<string, unknown>; name: string; items: unknown[]; cursor: string | null };

export function listReply(services: Services, page: Page): Reply {
  const body = JSON.stringify({ data: { [page.name]: page.items, next_cursor: page.cursor } });
  const headers: Record<string, string> = { "content-type": jsonMediaType };
  if (page.cursor !== null) {
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...page.query, cursor: page.cursor })) next.set(name, value);
    headers["link"] = `<${services.publicUrl}${page.path}?${next.toString()}>; rel="next"`;
  }
  return { status: 200, body, headers };
}
