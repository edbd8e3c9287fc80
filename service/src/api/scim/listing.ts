import { Type } from "typebox";
import { scimBaseUrl } from "../../domain/provisioning.ts";
import { filterCharactersMax, parseFilter, type Filter } from "../../domain/scim/filter.ts";
import { namesIn } from "../../domain/scim/matching.ts";
import { scimFault } from "../../domain/scim/patch.ts";
import { Projection, pageMax, urns } from "../../domain/scim/resource.ts";
import type { Call, Services } from "../operation.ts";
import type { Reply } from "../http/problem.ts";
import { scimReply } from "./directory.ts";

export const scim = { scope: "manage:users", tag: "Provisioning", isScim: true } as const;

export const ListQuery = Type.Object({
  filter: Type.Optional(
    Type.String({
      maxLength: filterCharactersMax,
      description: "A filter of SCIM.",
      examples: ['userName eq "ada@shop.example"'],
    }),
  ),
  startIndex: Type.Optional(Type.Integer({ description: "The first result that is returned. The first of all is 1." })),
  count: Type.Optional(Type.Integer({ description: `At most ${pageMax}, which is also the default.` })),
  ...Projection,
});
export type Paging = { startIndex?: number; count?: number };
export function locationOf({ publicUrl }: Services, { caller }: Call, path: string): string {
  return `${scimBaseUrl(publicUrl, caller.slug)}${path}`;
}

// A tenant can have 200,000 memberships, and each of these comparisons is made with all of them.
const listComparisonsMax = 5;
const longLists = new Set(["members", "groups"]);

// The filter of the list, or null. `isLong`: the filter needs the members or groups of every item.
export function readFilter(text: string | undefined): { filter: Filter; isLong: boolean } | null {
  if (text === undefined) return null;
  const filter = parseFilter(text);
  const count = namesIn(filter).filter((name) => longLists.has(name)).length;
  if (count > listComparisonsMax)
    throw scimFault("tooMany", `A filter can compare members or groups at most ${listComparisonsMax} times.`);
  return { filter, isLong: count > 0 };
}

// A start below 1 counts as 1, and a negative count as 0.
export function pageOf<T>(all: readonly T[], { startIndex = 1, count = pageMax }: Paging): { first: number; page: T[] } {
  const first = Math.max(startIndex, 1);
  return { first, page: all.slice(first - 1, first - 1 + Math.min(Math.max(count, 0), pageMax)) };
}

export function listReply(all: readonly unknown[], { first, page }: { first: number; page: object[] }): Reply {
  const counts = { totalResults: all.length, startIndex: first, itemsPerPage: page.length };
  return scimReply({ schemas: [urns.list], ...counts, Resources: page });
}
