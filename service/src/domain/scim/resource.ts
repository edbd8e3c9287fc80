import { Type, type Static } from "typebox";
import type { AttributePath } from "./filter.ts";
import { memberOf } from "./matching.ts";

// The resources as SCIM shows them (RFC 7643).
const core = "urn:ietf:params:scim:schemas:core:2.0";
const messages = "urn:ietf:params:scim:api:messages:2.0";
export const urns = {
  user: `${core}:User`,
  group: `${core}:Group`,
  schema: `${core}:Schema`,
  resourceType: `${core}:ResourceType`,
  serviceProviderConfig: `${core}:ServiceProviderConfig`,
  list: `${messages}:ListResponse`,
  patch: `${messages}:PatchOp`,
  error: `${messages}:Error`,
} as const;

export const pageMax = 200;

const Schemas = Type.Array(Type.String());
const Meta = Type.Object(
  { resourceType: Type.String(), created: Type.String(), lastModified: Type.String(), location: Type.String() },
  { additionalProperties: false },
);

// What `attributes` and `excludedAttributes` may leave out is optional.
export const ScimUser = Type.Object(
  {
    schemas: Schemas,
    id: Type.String(),
    externalId: Type.Optional(Type.String()),
    userName: Type.Optional(Type.String()),
    name: Type.Optional(
      Type.Object(
        {
          formatted: Type.Optional(Type.String()),
          givenName: Type.Optional(Type.String()),
          familyName: Type.Optional(Type.String()),
        },
        { additionalProperties: false },
      ),
    ),
    displayName: Type.Optional(Type.String()),
    active: Type.Optional(Type.Boolean()),
    emails: Type.Optional(
      Type.Array(
        Type.Object(
          { value: Type.Optional(Type.String()), type: Type.Optional(Type.String()), primary: Type.Optional(Type.Boolean()) },
          { additionalProperties: false },
        ),
      ),
    ),
    groups: Type.Optional(
      Type.Array(
        Type.Object(
          { value: Type.Optional(Type.String()), display: Type.Optional(Type.String()) },
          { additionalProperties: false },
        ),
      ),
    ),
    roles: Type.Optional(
      Type.Array(Type.Object({ value: Type.Optional(Type.String()) }, { additionalProperties: false }), {
        description: "The role in this tenant. The groups decide it; it cannot be set.",
      }),
    ),
    meta: Type.Optional(Type.Partial(Meta)),
  },
  { additionalProperties: false, $id: "ScimUser" },
);
export type ScimUser = Static<typeof ScimUser>;

export const ScimGroup = Type.Object(
  {
    schemas: Schemas,
    id: Type.String(),
    externalId: Type.Optional(Type.String()),
    displayName: Type.Optional(Type.String()),
    members: Type.Optional(
      Type.Array(
        Type.Object(
          { value: Type.Optional(Type.String()), display: Type.Optional(Type.String()) },
          { additionalProperties: false },
        ),
      ),
    ),
    meta: Type.Optional(Type.Partial(Meta)),
  },
  { additionalProperties: false, $id: "ScimGroup" },
);
export type ScimGroup = Static<typeof ScimGroup>;

export function listOf(item: typeof ScimUser | typeof ScimGroup, name: string) {
  return Type.Object(
    {
      schemas: Schemas,
      totalResults: Type.Integer({ minimum: 0 }),
      startIndex: Type.Integer({ minimum: 1 }),
      itemsPerPage: Type.Integer({ minimum: 0 }),
      Resources: Type.Array(item),
    },
    { additionalProperties: false, $id: name },
  );
}

// What a directory sends. The members are not checked by this schema: names differ in letter case, strings stand for booleans,
// and unknown attributes are ignored, as SCIM requires.
const any = (description: string) => Type.Optional(Type.Unknown({ description }));

export const ScimUserInput = Type.Object(
  {
    schemas: any("The schemas of the resource. They are not checked."),
    userName: any("Required. Unique in the tenant, without regard to letter case."),
    externalId: any("The directory's own id."),
    name: any("An object with givenName, familyName and formatted."),
    displayName: any("The name that colleagues see. Without it, the name is used."),
    active: any("False disables the person and signs them out everywhere."),
    emails: any("The primary address is used, or the one for work. Without one, userName must be an e-mail address."),
  },
  { additionalProperties: Type.Unknown(), $id: "ScimUserInput" },
);

export const ScimGroupInput = Type.Object(
  {
    schemas: any("The schemas of the resource. They are not checked."),
    displayName: any("Required. Unique in the tenant. The tenant decides which role its members get."),
    externalId: any("The directory's own id."),
    members: any("A list of objects with the member `value`, a person's id."),
  },
  { additionalProperties: Type.Unknown(), $id: "ScimGroupInput" },
);

export const ScimPatch = Type.Object(
  {
    schemas: any("The schema of the message. It is not checked."),
    Operations: any("Required. A list of objects with op (add, replace or remove), path and value."),
  },
  { additionalProperties: Type.Unknown(), $id: "ScimPatch" },
);

export const Projection = {
  attributes: Type.Optional(
    Type.String({ maxLength: 1_000, description: "Only these attributes, separated by commas.", examples: ["userName,active"] }),
  ),
  excludedAttributes: Type.Optional(
    Type.String({ maxLength: 1_000, description: "All but these attributes.", examples: ["members"] }),
  ),
};
const ProjectionQuery = Type.Object(Projection);
export type Projection = Static<typeof ProjectionQuery>;

// Returns the resource without the attributes that were not wanted. The id and the schemas always stay.
export function project<T extends { id: string; schemas: string[] }>(
  resource: T,
  { attributes, excludedAttributes }: Projection,
): T {
  const wanted = pathsIn(attributes);
  const unwanted = pathsIn(excludedAttributes);
  if (wanted.length === 0 && unwanted.length === 0) return resource;
  const kept = Object.entries(resource).flatMap(([name, value]) => {
    if (name === "id" || name === "schemas") return [[name, value]];
    const ofIt = (paths: AttributePath[]) => paths.filter((path) => path.name === name.toLowerCase());
    if (wanted.length > 0) return ofIt(wanted).length === 0 ? [] : [[name, pick(value, subsOf(ofIt(wanted)), true)]];
    const subs = subsOf(ofIt(unwanted));
    return ofIt(unwanted).some(({ sub }) => sub === null) ? [] : [[name, pick(value, subs, false)]];
  });
  return Object.fromEntries(kept) as T;
}

export function isWanted(name: string, { attributes, excludedAttributes }: Projection): boolean {
  const wanted = pathsIn(attributes);
  if (wanted.length > 0) return wanted.some((path) => path.name === name);
  return !pathsIn(excludedAttributes).some((path) => path.name === name && path.sub === null);
}

function pathsIn(text: string | undefined): AttributePath[] {
  const names = (text ?? "").split(",").map((name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^urn:.*:/, ""),
  );
  return names.filter((name) => name !== "").map((name) => ({ name: name.split(".")[0] ?? "", sub: name.split(".")[1] ?? null }));
}

// Null if the attribute is wanted as a whole.
function subsOf(paths: AttributePath[]): Set<string> | null {
  const subs = paths.flatMap(({ sub }) => (sub === null ? [] : [sub]));
  return subs.length < paths.length || subs.length === 0 ? null : new Set(subs);
}

function pick(value: unknown, subs: Set<string> | null, isKept: boolean): unknown {
  if (subs === null) return value;
  if (Array.isArray(value)) return value.map((entry: unknown) => pick(entry, subs, isKept));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value).flatMap((name) =>
      subs.has(name.toLowerCase()) === isKept ? [[name, memberOf(value, name.toLowerCase())]] : [],
    ),
  );
}
