import { Type } from "typebox";
import { scimBaseUrl } from "../../domain/provisioning.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "../../domain/scim/discovery.ts";
import { operation, type Call, type Operation, type Services } from "../operation.ts";
import { scimReply } from "./directory.ts";
import { scim } from "./listing.ts";

const AnyResource = Type.Object(
  { schemas: Type.Array(Type.String()) },
  { additionalProperties: Type.Unknown(), $id: "ScimResource" },
);

function answer(make: (base: string) => object) {
  return async ({ publicUrl }: Services, { caller }: Call) => scimReply(make(scimBaseUrl(publicUrl, caller.slug)));
}

export const scimDiscoveryOperations: Operation[] = [
  operation({
    ...scim,
    id: "getScimConfig",
    method: "GET",
    path: "/scim/v2/ServiceProviderConfig",
    summary: "Read what this service supports of SCIM",
    success: { status: 200, description: "The supported features", schema: AnyResource },
    problems: [],
    handle: answer(serviceProviderConfig),
  }),
  operation({
    ...scim,
    id: "listScimResourceTypes",
    method: "GET",
    path: "/scim/v2/ResourceTypes",
    summary: "List the types of SCIM resources",
    success: { status: 200, description: "Users and groups", schema: AnyResource },
    problems: [],
    handle: answer(resourceTypes),
  }),
  operation({
    ...scim,
    id: "listScimSchemas",
    method: "GET",
    path: "/scim/v2/Schemas",
    summary: "List the schemas of SCIM resources",
    success: { status: 200, description: "The attributes of users and groups", schema: AnyResource },
    problems: [],
    handle: answer(schemas),
  }),
];
