// Which cases are new in a saved view.
import { filterOf, type CaseSort, type Me } from "../db/case-filters.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { preferIndexes } from "../db/lists.ts";
import { withinMs } from "../db/postgres/time-limit.ts";
import { findListed, type Happened } from "../db/told-cases.ts";
import type { EventType } from "../domain/event.ts";
import type { StoredView } from "../domain/view.ts";

// The types of events that notifications cover.
export const toldTypes: readonly EventType[] = [
  "case.opened",
  "case.reopened",
  "case.evidence_added",
  "case.closed",
  "case.overdue",
  "case.handed_over",
];

const findLimitMs = 2_000;

type View = Pick<StoredView, "filter" | "sort">;

// What can bring a case into the view. A case that was in it before is new again only if it was reopened, or if its score or
// label changed.
function bringsIn({ filter }: View, type: string): boolean {
  if (type === "case.closed") return filter["status"] === "CLOSED" || isAboutClosing(filter);
  if (type === "case.overdue") return filter["overdue"] === true;
  if (type === "case.handed_over") return filter["handed_to"] !== undefined;
  return true;
}

function isAboutClosing(filter: View["filter"]): boolean {
  return ["disposition", "own_disposition", "closed_by"].some((member) => filter[member] !== undefined);
}

// In the order in which they happened. Null if the view takes too long to search.
export async function listNewIn(
  tx: Queryable,
  tenantId: string,
  { view, me, happened }: { view: View; me: Me; happened: readonly Happened[] },
): Promise<string[] | null> {
  const ids = happened.filter(({ types }) => types.some((type) => bringsIn(view, type))).map(({ case_id }) => case_id);
  if (ids.length === 0) return [];
  await preferIndexes(tx);
  const list = { filter: filterOf(me, view.filter), sort: view.sort as CaseSort };
  const listed = await withinMs(tx, findLimitMs, () => findListed(tx, tenantId, list, ids));
  return listed && ids.filter((id) => listed.has(id));
}
