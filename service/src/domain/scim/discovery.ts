import { changesMax } from "./patch.ts";
import { pageMax, urns } from "./resource.ts";

// What a directory can learn about this service (RFC 7643, sections 5 to 7).
type More = {
  type?: "string" | "boolean" | "complex" | "dateTime";
  multiValued?: boolean;
  required?: boolean;
  caseExact?: boolean;
  mutability?: "readWrite" | "readOnly" | "immutable";
  uniqueness?: "none" | "server";
  subAttributes?: object[];
};

function attribute(name: string, description: string, more: More = {}): object {
  const { type = "string", multiValued = false, required = false, caseExact = false } = more;
  const { mutability = "readWrite", uniqueness = "none", subAttributes } = more;
  const plain = { name, type, multiValued, description, required, caseExact, mutability, returned: "default", uniqueness };
  return { ...plain, ...(subAttributes && { subAttributes }) };
}

const userAttributes = [
  attribute("userName", "The name by which the directory finds the person.", { required: true, uniqueness: "server" }),
  attribute("name", "The parts of the name.", {
    type: "complex",
    subAttributes: [
      attribute("formatted", "The whole name."),
      attribute("givenName", "The first name."),
      attribute("familyName", "The last name."),
    ],
  }),
  attribute("displayName", "The name that colleagues see."),
  attribute("active", "Whether the person may sign in.", { type: "boolean" }),
  attribute("emails", "The person's only address. It cannot be changed.", {
    type: "complex",
    multiValued: true,
    mutability: "immutable",
    subAttributes: [
      attribute("value", "The address.", { mutability: "immutable" }),
      attribute("type", "Always work.", { mutability: "readOnly" }),
      attribute("primary", "Always true.", { type: "boolean", mutability: "readOnly" }),
    ],
  }),
  attribute("groups", "The groups of the person.", {
    type: "complex",
    multiValued: true,
    mutability: "readOnly",
    subAttributes: [
      attribute("value", "The id of the group.", { mutability: "readOnly", caseExact: true }),
      attribute("display", "The name of the group.", { mutability: "readOnly" }),
    ],
  }),
  attribute("roles", "The role of the person. The groups decide it.", {
    type: "complex",
    multiValued: true,
    mutability: "readOnly",
    subAttributes: [attribute("value", "The name of the role.", { mutability: "readOnly", caseExact: true })],
  }),
];

const groupAttributes = [
  attribute("displayName", "The name by which the tenant assigns a role.", { required: true, uniqueness: "server" }),
  attribute("members", "The people in the group.", {
    type: "complex",
    multiValued: true,
    subAttributes: [
      attribute("value", "The id of the person.", { mutability: "immutable", caseExact: true }),
      attribute("display", "The name of the person.", { mutability: "readOnly" }),
    ],
  }),
];

const meta = (base: string, resourceType: string, path: string) => ({ meta: { resourceType, location: `${base}${path}` } });

function listOf(resources: object[]) {
  const counts = { totalResults: resources.length, startIndex: 1, itemsPerPage: resources.length };
  return { schemas: [urns.list], ...counts, Resources: resources };
}

export function schemas(base: string) {
  const schema = (id: string, name: string, attributes: object[]) => {
    return { schemas: [urns.schema], id, name, description: name, attributes, ...meta(base, "Schema", `/Schemas/${id}`) };
  };
  return listOf([schema(urns.user, "User", userAttributes), schema(urns.group, "Group", groupAttributes)]);
}

export function resourceTypes(base: string) {
  const resourceType = (name: string, schema: string) => {
    const plain = { schemas: [urns.resourceType], id: name, name, description: name, endpoint: `/${name}s`, schema };
    return { ...plain, ...meta(base, "ResourceType", `/ResourceTypes/${name}`) };
  };
  return listOf([resourceType("User", urns.user), resourceType("Group", urns.group)]);
}

export function serviceProviderConfig(base: string) {
  const scheme = {
    type: "oauthbearertoken",
    name: "Bearer token",
    description: "A SCIM token of the tenant, or an access token with the scope manage:users.",
    primary: true,
  };
  return {
    schemas: [urns.serviceProviderConfig],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: changesMax, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [scheme],
    ...meta(base, "ServiceProviderConfig", "/ServiceProviderConfig"),
  };
}
