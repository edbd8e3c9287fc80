import { Type, type TSchema } from "typebox";
import { caseSorts, filterOf, filterParameters, type CaseSort } from "../db/case-filters.ts";
import { appendEvents } from "../db/events.ts";
import { countCases, preferIndexes } from "../db/lists.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { withinMs } from "../db/postgres/time-limit.ts";
import { lockSettings } from "../db/rules.ts";
import {
  countSharedViews,
  deleteView,
  insertView,
  listViews,
  listViewsOf,
  saveView,
  saveViewOrder,
  type OwnedView,
} from "../db/views.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { idCharactersMax } from "../domain/field.ts";
import {
  ViewCount,
  changeView,
  changedMembers,
  moveView,
  ownerOf,
  requireFit,
  viewCountMax,
  viewEvent,
  viewSchemas,
  type CaseFilterMembers,
  type StoredView,
  type ViewChange as Change,
} from "../domain/view.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

// One count may take this long, and all counts of a response together.
const countLimitMs = 100;
const countsLimitMs = 500;

// A query cannot contain an empty text. A body can, so free texts have limits here.
function bounded(schema: TSchema): TSchema {
  const isFree = "type" in schema && schema.type === "string" && !("format" in schema) && !("enum" in schema);
  return isFree ? { maxLength: idCharactersMax, ...schema, minLength: 1 } : schema;
}

const ViewFilter = Type.Object(
  Object.fromEntries(Object.entries(filterParameters).map(([name, schema]) => [name, Type.Optional(bounded(schema))])),
  {
    additionalProperties: false,
    $id: "ViewFilter",
    description: "Parameters of the case list. In `claimed_by: me` and `handed_to: me`, `me` is whoever uses the view.",
  },
);
const Sort = Type.Enum([...caseSorts], { description: "A sort of the case list.", default: "-created_at" });
const { NewView, ViewChange, View } = viewSchemas(ViewFilter, Sort);

function shown({ owner_name, owner, key, ...view }: OwnedView, caller: Caller) {
  return { ...view, ...(key !== null && { key }), owner: owner_name, is_own: owner === ownerOf(caller) };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  const views = await listViews(services.database, caller.tenant_id, ownerOf(caller));
  return dataReply({ views: views.map((view) => shown(view, caller)) });
}

// In the order of the list. A view whose cases take too long to count is left out.
async function count(services: Services, { caller }: Call): Promise<Reply> {
  const { tenant_id: tenantId } = caller;
  const views = await listViews(services.database, tenantId, ownerOf(caller));
  const deadline = performance.now() + countsLimitMs;
  const counts = await services.database.transaction(async (tx) => {
    const counted: ViewCount[] = [];
    await preferIndexes(tx);
    for (const { view_id, filter, sort } of views) {
      const leftMs = Math.min(countLimitMs, Math.floor(deadline - performance.now()));
      if (leftMs < 1) break;
      const found = await withinMs(tx, leftMs, () => {
        const list = { filter: filterOf(caller, filter), sort: sort as CaseSort };
        return countCases(tx, tenantId, list, viewCountMax + 1);
      });
      if (found === null) continue;
      counted.push({ view_id, cases: Math.min(found, viewCountMax), is_more: found > viewCountMax });
    }
    return counted;
  });
  return dataReply({ counts });
}

type NewViewBody = { name: string; filter?: CaseFilterMembers; sort?: string; is_shared?: boolean; key?: number };

// The lock on the settings keeps two requests from both taking the last free place, name or key.
async function create(services: Services, { caller, body }: Call): Promise<Reply> {
  const { tenant_id: tenantId, actor: by } = caller;
  const now = services.now();
  const { name, filter = {}, sort = "-created_at", is_shared = false, key = null } = body as NewViewBody;
  const owner = ownerOf(caller);
  const stamps = { view_version: 1, created_at: now, updated_at: now };
  const view: StoredView = { view_id: services.newId(now), owner, name, filter, sort, is_shared, key, ...stamps };
  const made = await services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    await checkFit(tx, tenantId, view);
    await insertView(tx, tenantId, view);
    const found = await requireView(tx, caller, view.view_id);
    await appendEvents(tx, tenantId, [viewEvent("view.created", view, { by, now })]);
    return found;
  });
  return dataReply(shown(made, caller), 201);
}

async function checkFit(tx: Queryable, tenantId: string, view: StoredView, before?: StoredView): Promise<StoredView[]> {
  const own = await listViewsOf(tx, tenantId, view.owner);
  const shared = before?.is_shared === true ? 0 : await countSharedViews(tx, tenantId);
  requireFit(view, { own, shared });
  return own;
}

// A private view of somebody else is treated as not found.
async function requireView(database: Queryable, caller: Caller, id: string): Promise<OwnedView> {
  const view = (await listViews(database, caller.tenant_id, ownerOf(caller))).find(({ view_id }) => view_id === id);
  if (!view) throw notFound("View", id);
  return view;
}

async function requireOwnView(database: Queryable, { caller, params }: Pick<Call, "caller" | "params">): Promise<OwnedView> {
  const view = await requireView(database, caller, params["view_id"] ?? "");
  if (view.owner !== ownerOf(caller) && !caller.scopes.has("manage:views"))
    throw new Failure("access-denied", "Only the owner of a view, or a caller with the scope manage:views, can change it.");
  return view;
}

async function update(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const { tenant_id: tenantId, actor: by } = caller;
  const now = services.now();
  // Validated against ViewChange.
  const change = call.body as Change;
  const changed = await services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    const { owner_name, ...found } = await requireOwnView(tx, call);
    const wanted = changeView(found, change, now);
    const order = (await checkFit(tx, tenantId, wanted, found)).map(({ view_id }) => view_id);
    const { position = order.indexOf(found.view_id) } = change;
    const moved = moveView(order, found.view_id, position);
    const isMoved = moved.some((id, at) => id !== order[at]);
    const members = [...changedMembers(found, wanted), ...(isMoved ? ["position"] : [])];
    if (members.length === 0) return { ...found, owner_name };
    await saveView(tx, tenantId, wanted);
    if (isMoved) await saveViewOrder(tx, tenantId, moved);
    await appendEvents(tx, tenantId, [viewEvent("view.updated", wanted, { by, now, changed: members })]);
    return { ...wanted, owner_name };
  });
  return dataReply(shown(changed, caller));
}

async function remove(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId, actor: by } = call.caller;
  const now = services.now();
  await services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    const view = await requireOwnView(tx, call);
    await deleteView(tx, tenantId, view.view_id);
    await appendEvents(tx, tenantId, [viewEvent("view.deleted", view, { by, now })]);
  });
  return { status: 204, body: "", headers: {} };
}

const tag = "Views";

export const viewOperations: Operation[] = [
  operation({
    id: "listViews",
    method: "GET",
    path: "/views",
    scope: "read:cases",
    tag,
    summary: "List saved views",
    description: "The caller's own views in their order, then the shared views of others by name.",
    success: {
      status: 200,
      description: "The views",
      schema: Type.Object({ views: Type.Array(View) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "createView",
    method: "POST",
    path: "/views",
    scope: "update:views",
    tag,
    summary: "Save a view",
    description: "The new view is the last of the caller's own.",
    body: NewView,
    success: { status: 201, description: "The view", schema: View },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: {
      name: "Take-overs to look at first",
      filter: { status: "OPEN", label: "Account Takeover" },
      sort: "-overall_risk_score",
    },
    handle: create,
  }),
  operation({
    id: "getViewCounts",
    method: "GET",
    path: "/views/counts",
    scope: "read:cases",
    tag,
    summary: "Count the cases of saved views",
    description: `For every view that the caller sees. Counting stops at ${viewCountMax} cases. A view that takes too long to count is left out.`,
    success: {
      status: 200,
      description: "The counts",
      schema: Type.Object({ counts: Type.Array(ViewCount) }, { additionalProperties: false }),
    },
    problems: [],
    handle: count,
  }),
  operation({
    id: "updateView",
    method: "PUT",
    path: "/views/{view_id}",
    scope: "update:views",
    tag,
    summary: "Change or move a view",
    description:
      "Applies only if view_version is the current one. Members that are left out do not change. A view of somebody else can be changed only if it is shared and the caller has the scope manage:views.",
    body: ViewChange,
    success: { status: 200, description: "The view after the change", schema: View },
    problems: ["bad-request", "item-not-found", "item-already-exists", "item-version-conflict", "transaction-contended"],
    example: { view_version: 1, is_shared: true },
    handle: update,
  }),
  operation({
    id: "deleteView",
    method: "DELETE",
    path: "/views/{view_id}",
    scope: "update:views",
    tag,
    summary: "Delete a view",
    description: "The shared views of others can only be deleted with the scope manage:views.",
    success: { status: 204, description: "The view is deleted" },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: remove,
  }),
];
