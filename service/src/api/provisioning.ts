import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { lockRoleScopes } from "../db/roles.ts";
import { listScimGroups } from "../db/scim-groups.ts";
import { listScimPeople } from "../db/scim-people.ts";
import {
  deleteScimToken,
  findGroupRoles,
  insertScimToken,
  listScimTokens,
  lockScimToken,
  saveGroupRoles,
  type StoredScimToken,
} from "../db/scim-tokens.ts";
import { lockSettings } from "../db/rules.ts";
import type { EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import {
  MadeScimToken,
  NewScimToken,
  Provisioning,
  ProvisioningChange,
  ScimToken,
  scimBaseUrl,
  scimTokensMax,
  type GroupRoles,
} from "../domain/provisioning.ts";
import { requireReach } from "../domain/role.ts";
import { scopes } from "../domain/scope.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";
import { change, lockRoles } from "./scim/directory.ts";
import { settleRoles } from "./scim/group-roles.ts";
import { newScimToken } from "./tokens/scim-tokens.ts";
import { requireRole } from "./users.ts";

type About = { id: string; now: string; data: Record<string, unknown> };

function eventOf(type: EventType, { caller }: Call, { id, now, data }: About) {
  return { type, occurred_at: now, actor: caller.actor, resource: { type: "provisioning" as const, id }, data };
}

async function shown({ publicUrl }: Services, { caller }: Call, database: Queryable): Promise<Provisioning> {
  const settings = await findGroupRoles(database, caller.tenant_id);
  const groups = await listScimGroups(database, caller.tenant_id);
  const counted = groups.map(({ display_name, member_count }) => ({ display_name, members: member_count }));
  return { base_url: scimBaseUrl(publicUrl, caller.slug), ...settings, groups: counted };
}

async function read(services: Services, call: Call): Promise<Reply> {
  return dataReply(await shown(services, call, services.database));
}

// Changing the mapping gives people the new roles and takes away the old ones, so the caller needs the scopes of both.
async function requireRoles(tx: Queryable, call: Call, { role_groups, default_role }: GroupRoles): Promise<void> {
  const named = [
    ...role_groups.map(({ role }, index) => ({ field: `role_groups[${index}].role`, role })),
    { field: "default_role", role: default_role },
  ];
  const isKnown = new Map<string, boolean>();
  for (const role of new Set(named.map((each) => each.role))) {
    isKnown.set(role, (await lockRoleScopes(tx, call.caller.tenant_id, role)) !== undefined);
    await requireRole(tx, call, role);
  }
  const faults = named.filter(({ role }) => isKnown.get(role) !== true);
  if (faults.length > 0) throw invalid(faults.map(({ field }) => ({ field, message: "is not a role of this tenant" })));
}

async function update(services: Services, call: Call<ProvisioningChange>): Promise<Reply> {
  const { tenant_id, slug, actor } = call.caller;
  const findIds = async (tx: Queryable) => {
    const people = await listScimPeople(tx, tenant_id, { hasGroups: false });
    return people.filter(({ profile }) => profile !== null).map(({ user_id }) => user_id);
  };
  const { result, settings } = await change(services, call, findIds, async (work) => {
    const { tx, by, settings: before } = work;
    const settings = { ...before, ...call.body };
    await lockRoles(tx, tenant_id, settings);
    await requireRoles(tx, call, before);
    await requireRoles(tx, call, settings);
    if (JSON.stringify(settings) !== JSON.stringify(before)) {
      await saveGroupRoles(tx, tenant_id, { ...settings, now: by.now });
      const updated = eventOf("provisioning.updated", call, { id: tenant_id, now: by.now, data: { ...call.body } });
      const settled = await settleRoles({ ...work, settings }, new Set(await findIds(tx)));
      await appendEvents(tx, tenant_id, [updated, ...settled]);
    }
    return { result: await shown(services, call, tx), settings };
  });
  services.audit("provisioning changed", { tenant: slug, actor, ...settings });
  return dataReply(result);
}

function shownToken({ reach: _reach, last_used_at, ...token }: StoredScimToken): ScimToken {
  return { ...token, ...(last_used_at !== null && { last_used_at }) };
}

async function listTokens(services: Services, { caller }: Call): Promise<Reply> {
  const tokens = await listScimTokens(services.database, caller.tenant_id);
  return dataReply({ scim_tokens: tokens.map(shownToken) });
}

// The token can grant what its creator can grant now. If that is everything, it also covers scopes of later releases.
function reachOf({ caller }: Call): string[] | null {
  const own = scopes.filter((scope) => caller.scopes.has(scope));
  return own.length === scopes.length ? null : own;
}

async function createToken(services: Services, call: Call<NewScimToken>): Promise<Reply> {
  const { tenant_id, slug, actor } = call.caller;
  const { name, adopts_people = false } = call.body;
  const now = services.now();
  const { text, hash: token_hash } = newScimToken(tenant_id);
  const shared = { scim_token_id: services.newId(now), name, adopts_people, created_by: actor, created_at: now };
  await services.database.transaction(async (tx) => {
    // Otherwise two callers could exceed the limit together.
    await lockSettings(tx, tenant_id, now);
    if ((await listScimTokens(tx, tenant_id)).length >= scimTokensMax)
      throw invalid([{ field: "name", message: `must not be added: a tenant has at most ${scimTokensMax} SCIM tokens` }]);
    if (!(await insertScimToken(tx, tenant_id, { ...shared, reach: reachOf(call), token_hash })))
      throw new Failure("item-already-exists", "A SCIM token with this name already exists.");
    const data = { name, adopts_people };
    await appendEvents(tx, tenant_id, [eventOf("provisioning.token_created", call, { id: shared.scim_token_id, now, data })]);
  });
  services.audit("SCIM token created", { tenant: slug, actor, name });
  return dataReply({ scim_token: shared, token: text }, 201);
}

async function revokeToken(services: Services, call: Call): Promise<Reply> {
  const { tenant_id, slug, actor } = call.caller;
  const id = call.params["scim_token_id"] ?? "";
  const now = services.now();
  const name = await services.database.transaction(async (tx) => {
    const token = isCanonicalUuid(id) ? await lockScimToken(tx, tenant_id, id) : undefined;
    if (!token) throw notFound("SCIM token", id);
    requireReach(call.caller, token.reach ?? scopes);
    await deleteScimToken(tx, tenant_id, id);
    await appendEvents(tx, tenant_id, [eventOf("provisioning.token_revoked", call, { id, now, data: { name: token.name } })]);
    return token.name;
  });
  services.audit("SCIM token revoked", { tenant: slug, actor, name });
  return { status: 204, body: "", headers: {} };
}

const reading = { scope: "read:users", tag: "Provisioning" } as const;
const changing = { scope: "manage:users", tag: "Provisioning" } as const;

export const provisioningOperations: Operation[] = [
  operation({
    ...reading,
    id: "getProvisioning",
    method: "GET",
    path: "/scim",
    summary: "Read the provisioning settings",
    success: { status: 200, description: "The base URL to enter in the directory, and the roles by group", schema: Provisioning },
    problems: [],
    handle: read,
  }),
  operation({
    ...changing,
    id: "updateProvisioning",
    method: "PUT",
    path: "/scim",
    summary: "Set the roles by group",
    description:
      "Omitted members do not change. The change applies to all provisioned people at once. The last active admin stays an admin. The caller must hold every scope of the roles in the settings before and after the change, and of the roles that people lose.",
    body: ProvisioningChange,
    success: { status: 200, description: "The settings after the change", schema: Provisioning },
    problems: ["bad-request", "transaction-contended"],
    example: { role_groups: [{ group: "Fraud leads", role: "lead" }], default_role: "investigator" },
    handle: update,
  }),
  operation({
    ...reading,
    id: "listScimTokens",
    method: "GET",
    path: "/scim/tokens",
    summary: "List the SCIM tokens",
    description: "In order of creation, without the tokens themselves.",
    success: {
      status: 200,
      description: "The tokens",
      schema: Type.Object({ scim_tokens: Type.Array(ScimToken) }, { additionalProperties: false }),
    },
    problems: [],
    handle: listTokens,
  }),
  operation({
    ...changing,
    id: "createScimToken",
    method: "POST",
    path: "/scim/tokens",
    summary: "Create a SCIM token for a directory",
    description: `The token is shown only once. It works only below \`/scim/v2\`, until it is revoked. It cannot give a role with a scope that the caller lacks. A tenant can have ${scimTokensMax} tokens, so that one can be replaced without an interruption.`,
    body: NewScimToken,
    success: { status: 201, description: "The token", schema: MadeScimToken },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: { name: "entra", adopts_people: false },
    handle: createToken,
  }),
  operation({
    ...changing,
    id: "revokeScimToken",
    method: "DELETE",
    path: "/scim/tokens/{scim_token_id}",
    summary: "Revoke a SCIM token",
    description: "The directory's next request is refused. The caller must hold every scope that the token's creator had.",
    success: { status: 204, description: "The token is revoked" },
    problems: ["item-not-found", "transaction-contended"],
    handle: revokeToken,
  }),
];
