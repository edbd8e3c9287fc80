import { Type, type Static, type TSchema } from "typebox";
import type { DomainEvent } from "./event.ts";
import { Failure, versionConflict, type FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { notBefore } from "./text.ts";

// A view is a filter and a sort of the case list under a name.

export const ownViewsMax = 50;
export const sharedViewsMax = 100;
export const viewNameCharactersMax = 60;
// Counting stops here, so that a view of millions of cases costs as much as one of a thousand.
export const viewCountMax = 1_000;

const Name = Type.String({ minLength: 1, maxLength: viewNameCharactersMax, description: "Unique among the views of its owner." });
const Key = Type.Integer({
  minimum: 1,
  maximum: 9,
  description: "In the console, `G` and then this digit opens the view. Unique among the views of its owner.",
});
const IsShared = Type.Boolean({ description: "Whether everybody in the tenant sees the view. Otherwise only its owner does." });
const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Increases with every change to the view." });

// The filter has the parameters of the case list, which only the layers above know.
export function viewSchemas<F extends TSchema, S extends TSchema>(filter: F, sort: S) {
  const NewView = Type.Object(
    {
      name: Name,
      filter: Type.Optional(filter),
      sort: Type.Optional(sort),
      is_shared: Type.Optional(Type.Boolean({ ...IsShared, default: false })),
      key: Type.Optional(Key),
    },
    { additionalProperties: false, $id: "NewView" },
  );
  const ViewChange = Type.Object(
    {
      view_version: { ...Version, description: "The version that was read." },
      name: Type.Optional(Name),
      filter: Type.Optional(filter),
      sort: Type.Optional(sort),
      is_shared: Type.Optional(IsShared),
      key: Type.Optional(Type.Union([Key, Type.Null()], { description: "null removes the key." })),
      position: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: ownViewsMax - 1,
          description: "The view's place among the views of its owner. 0 is the first.",
        }),
      ),
    },
    { additionalProperties: false, $id: "ViewChange" },
  );
  const View = Type.Object(
    {
      view_id: Uuid,
      name: Name,
      filter,
      sort,
      is_shared: IsShared,
      key: Type.Optional(Key),
      owner: Type.String({ description: "The person or client that saved the view." }),
      is_own: Type.Boolean({ description: "Whether the caller is its owner." }),
      view_version: Version,
      created_at: Time,
      updated_at: Time,
    },
    { additionalProperties: false, $id: "View" },
  );
  return { NewView, ViewChange, View };
}

export const ViewCount = Type.Object(
  {
    view_id: Uuid,
    cases: Type.Integer({ description: `At most ${viewCountMax}.` }),
    is_more: Type.Boolean({ description: "Whether there are more cases than that." }),
  },
  { additionalProperties: false, $id: "ViewCount" },
);
export type ViewCount = Static<typeof ViewCount>;

export type CaseFilterMembers = Record<string, string | number | boolean>;

export type StoredView = {
  view_id: string;
  owner: string;
  name: string;
  filter: CaseFilterMembers;
  sort: string;
  is_shared: boolean;
  key: number | null;
  view_version: number;
  created_at: string;
  updated_at: string;
};

export type ViewChange = {
  view_version: number;
  name?: string;
  filter?: CaseFilterMembers;
  sort?: string;
  is_shared?: boolean;
  key?: number | null;
  position?: number;
};

// A person keeps their views when they change their name, so the owner is the person's id and not their name. The prefixes keep a
// client that is named like a person's id apart from that person.
export function ownerOf({ person, actor }: { person?: { user_id: string }; actor: string }): string {
  return person ? `user:${person.user_id}` : `client:${actor}`;
}

// Returns the view after the change. Its place is not part of it.
export function changeView(
  found: StoredView,
  { view_version, position: _place, ...change }: ViewChange,
  now: string,
): StoredView {
  if (view_version !== found.view_version) throw versionConflict("The view", found.view_version);
  return { ...found, ...change, view_version: found.view_version + 1, updated_at: notBefore(found.updated_at, now) };
}

const contents = ["name", "filter", "sort", "is_shared", "key"] as const;

// The names of the members that differ. The order of a filter's members does not matter.
export function changedMembers(before: StoredView, after: StoredView): string[] {
  return contents.filter((member) => plain(before[member]) !== plain(after[member]));
}

function plain(value: StoredView[(typeof contents)[number]]): string {
  const isFilter = typeof value === "object" && value !== null;
  return JSON.stringify(isFilter ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value);
}

// Fails if the view conflicts with its owner's other views, or exceeds a limit.
export function requireFit(view: StoredView, others: { own: StoredView[]; shared: number }): void {
  const own = others.own.filter(({ view_id }) => view_id !== view.view_id);
  if (own.some(({ name }) => name === view.name))
    throw new Failure("item-already-exists", `A view with the name ${view.name} already exists.`);
  const faults: FieldError[] = [];
  if (own.length >= ownViewsMax)
    faults.push({ field: "name", message: `must not be added: an owner has at most ${ownViewsMax} views` });
  if (view.is_shared && others.shared >= sharedViewsMax)
    faults.push({ field: "is_shared", message: `must be false: a tenant has at most ${sharedViewsMax} shared views` });
  if (view.key !== null && own.some(({ key }) => key === view.key))
    faults.push({ field: "key", message: `must be unused: another view has the key ${view.key}` });
  if (faults.length > 0) throw new Failure("validation-error", "The view cannot be saved.", { errors: faults });
}

// The ids in their new order.
export function moveView(ids: string[], id: string, place: number): string[] {
  return ids.filter((each) => each !== id).toSpliced(place, 0, id);
}

// The log names no view and no filter: both may contain an account's id, and private views are nobody else's business.
export function viewEvent(
  type: "view.created" | "view.updated" | "view.deleted",
  { view_id: id, view_version: version, is_shared }: StoredView,
  { by, now, changed }: { by: string; now: string; changed?: string[] },
): DomainEvent {
  const resource = { type: "view" as const, id, version };
  return { type, occurred_at: now, actor: by, resource, data: { is_shared, ...(changed && { changed }) } };
}
