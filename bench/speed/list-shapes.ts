// The lists that are measured: each filter, some combinations, each in every order, from the top and from the middle.
import { CursorSeal } from "../../service/src/api/http/cursor.ts";
import { canonicalJson } from "../../service/src/api/http/json.ts";
import { wholeSorts, type CaseFilter, type CasePosition, type CaseSort } from "../../service/src/db/case-filters.ts";
import { listCases } from "../../service/src/db/lists.ts";
import { findOrMakeKeys } from "../../service/src/db/settings.ts";
import type { Queryable, Row } from "../../service/src/db/postgres/database.ts";
import type { Statement } from "../../service/src/db/postgres/sql.ts";
import { uuidV7Floor } from "../../service/src/domain/uuid.ts";
import type { Store } from "./store.ts";

const yearMs = 365 * 86_400_000;
const pageRows = 50;
export const sorts = wholeSorts;

// The deep page begins `middle` of a year ago, or at this `score` if the list is sorted by score.
export type ListShape = { name: string; filter: CaseFilter; middle: number; score: number };

function shape(name: string, filter: CaseFilter, middle = 0.25, score = 3): ListShape {
  return { name, filter, middle, score };
}

// Time bounds are in the middle of the store's year, so half of the cases are on either side.
export function listShapes(store: Store): ListShape[] {
  const half = store.untilMs - yearMs / 2;
  const halfTime = new Date(half).toISOString();
  return [
    shape("all", {}),
    shape("status=OPEN", { status: "OPEN" }),
    shape("status=CLOSED", { status: "CLOSED" }),
    shape("website_account_id", { website_account_id: "member-77" }, 0.5),
    shape("website_account_id=UNKNOWN", { website_account_id: "UNKNOWN" }),
    shape("user_is_blocked=true", { user_is_blocked: true }),
    shape("user_is_blocked=false", { user_is_blocked: false }),
    shape("label", { label: "Bot" }),
    shape("min_score=4", { min_score: 4 }, 0.25, 4),
    shape("max_score=3", { max_score: 3 }),
    shape("new_evidence=true", { new_evidence: true }),
    shape("new_evidence=false", { new_evidence: false }),
    shape("created_after", { created_after_ms: half }),
    shape("created_before", { created_before_ms: half }, 0.75),
    shape("updated_since", { updated_since: halfTime }),
    shape("updated_before", { updated_before: halfTime }, 0.75),
    shape("status, label, min_score", { status: "OPEN", label: "Bot", min_score: 4 }, 0.25, 4),
    shape("status, user_is_blocked, label", { status: "CLOSED", user_is_blocked: true, label: "Account Takeover" }),
    shape("status, created_after, max_score", { status: "OPEN", created_after_ms: half, max_score: 4 }),
    shape("UNKNOWN, status", { website_account_id: "UNKNOWN", status: "OPEN" }),
  ];
}

function positionOf({ middle, score }: ListShape, store: Store): CasePosition {
  const atMs = Math.round(store.untilMs - middle * yearMs);
  return { case_id: uuidV7Floor(atMs), touched_at: new Date(atMs).toISOString(), score };
}

export type Depth = "first" | "deep";
export type Asked = { shape: ListShape; sort: CaseSort; depth: Depth };

// The path for the API. The cursor is sealed as the service does, because paging to the middle of millions would take hours.
export async function listPath(store: Store, { shape, sort, depth }: Asked): Promise<string> {
  const tenant = store.tenants[0];
  if (!tenant) throw new Error("a store without a tenant");
  const { created_after_ms: after, created_before_ms: before, ...plain } = shape.filter;
  const query = new URLSearchParams({ sort, limit: String(pageRows) });
  for (const [name, value] of Object.entries(plain)) query.set(name, String(value));
  if (after !== undefined) query.set("created_after", new Date(after).toISOString());
  if (before !== undefined) query.set("created_before", new Date(before).toISOString());
  if (depth === "deep") {
    const { cursors: key } = await findOrMakeKeys(store.database);
    const signature = `${tenant.tenant_id} listCases ${canonicalJson({ ...shape.filter, sort })}`;
    query.set("cursor", new CursorSeal(key).seal(positionOf(shape, store), signature));
  }
  return `/v2/${tenant.slug}/cases?${query.toString()}`;
}

export type Touched = { buffers: number; removed: number };

// The database pages that a list touches, and the rows that it reads in vain.
export async function touchedBy(store: Store, { shape, sort, depth }: Asked): Promise<Touched> {
  const touched: Touched = { buffers: 0, removed: 0 };
  const explaining: Queryable = {
    query: async <R extends Row>(asked: Statement): Promise<R[]> => {
      const text = `explain (analyze, buffers, format json) ${asked.text}`;
      const [row] = await store.database.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>({ name: "", text, values: asked.values });
      const plan = row?.["QUERY PLAN"][0]?.Plan;
      touched.buffers += (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
      touched.removed += plan ? removedIn(plan) : 0;
      return store.database.query<R>({ ...asked, name: "" });
    },
  };
  const after = depth === "deep" ? positionOf(shape, store) : null;
  const tenantId = store.tenants[0]?.tenant_id ?? "";
  await listCases(explaining, tenantId, { filter: shape.filter, sort, after, limit: pageRows + 1 });
  return touched;
}

type PlanNode = {
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
};

function removedIn(node: PlanNode): number {
  return (node["Rows Removed by Filter"] ?? 0) + (node.Plans ?? []).reduce((total, each) => total + removedIn(each), 0);
}
