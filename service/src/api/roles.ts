import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import {
  countHolders,
  deleteTenantRole,
  insertTenantRole,
  listTenantRoles,
  lockTenantRole,
  saveTenantRole,
  type TenantRoleRow,
} from "../db/roles.ts";
import { countHandovers } from "../db/handovers.ts";
import { lockSettings } from "../db/rules.ts";
import { isRoleProvisioned } from "../db/scim-tokens.ts";
import { countIssuersOfRole } from "../db/sign-in-issuers.ts";
import { deleteUnusedLinksOfRole } from "../db/user-links.ts";
import type { EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import {
  NewTenantRole,
  TenantRole,
  TenantRoleChange,
  builtInWords,
  isRole,
  requireReach,
  roleScopes,
  roles,
  rolesMax,
} from "../domain/role.ts";
import { isScope } from "../domain/scope.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

type About = { role: string; now: string; data?: Record<string, unknown> };

function eventOf(type: EventType, { caller }: Call, { role, now, data }: About) {
  return { type, occurred_at: now, actor: caller.actor, resource: { type: "role" as const, id: role }, ...(data && { data }) };
}

// A scope that a later release removed grants nothing, so it is not shown.
function shown({ scopes, ...row }: TenantRoleRow): TenantRole {
  return { ...row, scopes: scopes.filter((scope) => isScope(scope)), is_built_in: false };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  const builtIn = roles.map((role) => ({
    role,
    description: builtInWords[role],
    scopes: [...roleScopes[role]],
    is_built_in: true,
  }));
  const own = await listTenantRoles(services.database, caller.tenant_id);
  return dataReply({ roles: [...builtIn, ...own.map((row) => shown(row))] });
}

async function create(services: Services, call: Call<NewTenantRole>): Promise<Reply> {
  const { caller } = call;
  const { role, description = "" } = call.body;
  const scopes = [...new Set(call.body.scopes)].toSorted();
  requireReach(caller, scopes);
  const now = services.now();
  const made = { role, description, scopes, created_at: now, updated_at: now };
  await services.database.transaction(async (tx) => {
    // Two callers must not both take the last free place.
    await lockSettings(tx, caller.tenant_id, now);
    if ((await listTenantRoles(tx, caller.tenant_id)).length >= rolesMax)
      throw invalid([{ field: "role", message: `must not be added: a tenant has at most ${rolesMax} roles of its own` }]);
    if (isRole(role) || !(await insertTenantRole(tx, caller.tenant_id, made)))
      throw new Failure("item-already-exists", "A role with this name already exists.");
    await appendEvents(tx, caller.tenant_id, [eventOf("role.created", call, { role, now, data: { scopes } })]);
  });
  services.audit("role created", { tenant: caller.slug, actor: caller.actor, role, scopes });
  return dataReply(shown(made), 201);
}

// Locks the role, which must allow no more than the caller may do: changing it changes what its holders may do.
async function lockReached(tx: Queryable, { caller, params }: Call): Promise<TenantRoleRow> {
  const role = params["role_name"] ?? "";
  if (isRole(role)) throw new Failure("access-denied", "A built-in role cannot be changed. Create a role of your own.");
  const row = /^[a-z0-9-]+$/.test(role) ? await lockTenantRole(tx, caller.tenant_id, role) : undefined;
  if (!row) throw notFound("Role", role);
  requireReach(
    caller,
    row.scopes.filter((scope) => isScope(scope)),
  );
  return row;
}

async function update(services: Services, call: Call<TenantRoleChange>): Promise<Reply> {
  const { caller, body } = call;
  const scopes = body.scopes && [...new Set(body.scopes)].toSorted();
  if (scopes) requireReach(caller, scopes);
  const now = services.now();
  const changed = await services.database.transaction(async (tx) => {
    const before = await lockReached(tx, call);
    const { description = before.description } = body;
    const after = { ...before, description, scopes: scopes ?? before.scopes };
    if (JSON.stringify(after) === JSON.stringify(before)) return before;
    await saveTenantRole(tx, caller.tenant_id, { ...after, updated_at: now });
    // For each person with the role, this is like getting a larger role.
    const isLarger = after.scopes.some((scope) => !before.scopes.includes(scope));
    if (isLarger) await deleteUnusedLinksOfRole(tx, caller.tenant_id, before.role);
    const data = { ...body, ...(scopes && { scopes }) };
    await appendEvents(tx, caller.tenant_id, [eventOf("role.updated", call, { role: before.role, now, data })]);
    return { ...after, updated_at: now };
  });
  services.audit("role changed", { tenant: caller.slug, actor: caller.actor, role: changed.role, scopes: changed.scopes });
  return dataReply(shown(changed));
}

async function remove(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const now = services.now();
  const role = await services.database.transaction(async (tx) => {
    const { role } = await lockReached(tx, call);
    const holders = await countHolders(tx, caller.tenant_id, role);
    const who = holders === 1 ? "one person" : `${holders} people`;
    if (holders > 0) throw invalid([{ field: "role_name", message: `must not be deleted: ${who} must get another role first` }]);
    const handed = await countHandovers(tx, caller.tenant_id, role);
    const what = handed === 1 ? "one open case was" : `${handed} open cases were`;
    if (handed > 0) throw invalid([{ field: "role_name", message: `must not be deleted: ${what} handed over to it` }]);
    if ((await countIssuersOfRole(tx, caller.tenant_id, role)) > 0)
      throw invalid([{ field: "role_name", message: "must not be deleted: an issuer assigns it" }]);
    if (await isRoleProvisioned(tx, caller.tenant_id, role))
      throw invalid([{ field: "role_name", message: "must not be deleted: provisioning assigns it" }]);
    await deleteTenantRole(tx, caller.tenant_id, role);
    await appendEvents(tx, caller.tenant_id, [eventOf("role.deleted", call, { role, now })]);
    return role;
  });
  services.audit("role deleted", { tenant: caller.slug, actor: caller.actor, role });
  return { status: 204, body: "", headers: {} };
}

const changing = { scope: "manage:users", tag: "People" } as const;
const reachWords = "The caller must hold every scope of the role.";

export const roleOperations: Operation[] = [
  operation({
    id: "listRoles",
    method: "GET",
    path: "/roles",
    scope: "read:users",
    tag: "People",
    summary: "List the roles that people can have",
    description: `The built-in ones first, then the tenant's own, ordered by name. A tenant has at most ${rolesMax} of its own.`,
    success: {
      status: 200,
      description: "The roles",
      schema: Type.Object({ roles: Type.Array(TenantRole) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    ...changing,
    id: "createRole",
    method: "POST",
    path: "/roles",
    summary: "Create a role from scopes",
    description: reachWords,
    body: NewTenantRole,
    success: { status: 201, description: "The role", schema: TenantRole },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: { role: "auditor", description: "Reads cases, changes nothing", scopes: ["read:cases", "read:case", "read:events"] },
    handle: create,
  }),
  operation({
    ...changing,
    id: "updateRole",
    method: "PUT",
    path: "/roles/{role_name}",
    summary: "Change a role of the tenant",
    description: `Omitted members do not change. A list of scopes replaces the previous one, and applies from the next request of each holder on. ${reachWords} This is checked before and after the change. Built-in roles cannot be changed.`,
    body: TenantRoleChange,
    success: { status: 200, description: "The role after the change", schema: TenantRole },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { scopes: ["read:cases", "read:case"] },
    handle: update,
  }),
  operation({
    ...changing,
    id: "deleteRole",
    method: "DELETE",
    path: "/roles/{role_name}",
    summary: "Delete a role of the tenant",
    description: `Refused while anybody has the role, or while an issuer or provisioning assigns it. ${reachWords}`,
    success: { status: 204, description: "The role is deleted" },
    problems: ["item-not-found", "validation-error", "transaction-contended"],
    handle: remove,
  }),
];
