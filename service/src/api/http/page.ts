import { Type, type TSchema } from "typebox";
import { canonicalJson } from "./json.ts";
import { jsonMediaType, type Call, type Caller, type Operation, type Services } from "../operation.ts";
import type { Reply } from "./problem.ts";

export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }));
export const Cursor = Type.Optional(
  Type.String({ description: "The next_cursor of the previous page. The filters and the sort must be the same." }),
);

// The response of a list: the items under their name, and the cursor of the next page.
export function pageOf(name: string, item: TSchema, description: string): Operation["success"] {
  const members = { [name]: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) };
  const schema = Type.Object(members, { additionalProperties: false });
  return { status: 200, description, schema, headers: { Link: 'The next page, rel="next", if there is one.' } };
}

// A cursor is valid only for the same tenant, list, filters and sort.
export function listSignature(caller: Caller, list: string, filter: Record<string, unknown>): string {
  return `${caller.tenant_id} ${list} ${canonicalJson(filter)}`;
}

type Page = { path: string; query: Record<string, unknown>; name: string; cursor: string | null };

export function listReply(services: Services, { items, ...page }: Page & { items: unknown }): Reply {
  return textReply(services, { ...page, text: JSON.stringify(items) });
}

// For items that are JSON already.
export function textReply(services: Services, page: Page & { text: string }): Reply {
  const body = `{"data":{"${page.name}":${page.text},"next_cursor":${JSON.stringify(page.cursor)}}}`;
  const headers: Record<string, string> = { "content-type": jsonMediaType };
  if (page.cursor !== null) {
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...page.query, cursor: page.cursor })) next.set(name, value);
    headers["link"] = `<${services.publicUrl}${page.path}?${next.toString()}>; rel="next"`;
  }
  return { status: 200, body, headers };
}

export const PageQuery = Type.Object({ limit: Limit, cursor: Cursor });

// A list that belongs to one resource, which `key` identifies.
type Listing<T, P> = {
  id: string;
  path: string;
  name: string;
  key: Record<string, string>;
  read: (after: P | null, limit: number) => Promise<T[]>;
  positionOf: (last: T) => P;
  show: (items: T[]) => unknown[] | Promise<unknown[]>;
};

// Reads one row more than requested, to find out whether there is another page.
export async function listPage<T, P>(services: Services, { caller, query }: Call, of: Listing<T, P>): Promise<Reply> {
  const { limit = 1000, cursor } = query as { limit?: number; cursor?: string };
  const signature = listSignature(caller, of.id, of.key);
  // The seal proves that positionOf made this value.
  const after = cursor === undefined ? null : (services.cursors.open(cursor, signature) as P);
  const found = await of.read(after, limit + 1);
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const next = last === undefined ? null : services.cursors.seal(of.positionOf(last), signature);
  const path = `/v2/${caller.slug}${of.path}`;
  return listReply(services, { path, query, name: of.name, items: await of.show(items), cursor: next });
}
