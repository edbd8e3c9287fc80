import { labels, type Label } from "../domain/finding.ts";

// The properties that cases are filtered by, encoded as the number in `cases.facet`. The column's generated expression must match
// `facetOf`.
export type Facets = { status: "OPEN" | "CLOSED"; isBlocked: boolean; label: Label; score: number };

const closed = 50;
const blocked = 25;
const scores = 5;

export function facetOf({ status, isBlocked, label, score }: Facets): number {
  return (status === "OPEN" ? 0 : closed) + (isBlocked ? blocked : 0) + scores * labels.indexOf(label) + score - 1;
}

// Every combination, highest score first.
export const allFacets: Facets[] = (["OPEN", "CLOSED"] as const).flatMap((status) =>
  [false, true].flatMap((isBlocked) =>
    labels.flatMap((label) => [5, 4, 3, 2, 1].map((score) => ({ status, isBlocked, label, score }))),
  ),
);

// The facet numbers of open cases are below `end`. Among them, those from `blockedFrom` on belong to blocked accounts.
export const openFacets = { end: closed, blockedFrom: blocked };

export function scoreOf(facet: number): number {
  return (facet % scores) + 1;
}
