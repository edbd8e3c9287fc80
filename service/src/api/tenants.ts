import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { listIdentitySecrets } from "../db/identity.ts";
import { findPrimaryClientId, findTenant, lockTenant, saveTenant, type TenantRow } from "../db/tenants.ts";
import { notFound } from "../domain/failure.ts";
import { requireReach } from "../domain/role.ts";
import { RotatedSecret, Tenant, TenantChange, changeTenant, tenantChangeFaults } from "../domain/tenant.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { rotateSecret, rotationWords } from "./tokens/secret-rotation.ts";
import { invalid } from "./http/validate.ts";

async function read(services: Services, { caller }: Call): Promise<Reply> {
  const tenant = await findTenant(services.database, caller.slug);
  if (!tenant) throw notFound("Tenant", caller.slug);
  const clientId = await findPrimaryClientId(services.database, caller.tenant_id);
  return dataReply(shownTenant(tenant, clientId));
}

export function shownTenant(tenant: TenantRow, clientId: string | undefined): Tenant {
  return {
    tenant_name: tenant.slug,
    tenant_id: tenant.tenant_id,
    ...(clientId !== undefined && { client_id: clientId }),
    clickstream_app_id: tenant.app_key,
    allowed_origins: tenant.allowed_origins,
    ip_policy: tenant.ip_policy,
    url_parameters: tenant.url_parameters,
    ...(tenant.retention_days !== null && { retention_days: tenant.retention_days }),
    identity_verification: tenant.identity_verification,
    time_zone: tenant.time_zone,
    requires_second_factor: tenant.requires_second_factor,
    notification_details: tenant.notification_details,
    created_at: tenant.created_at,
  };
}

async function update(services: Services, { caller, body }: Call<TenantChange>): Promise<Reply> {
  const by = { actor: caller.actor, now: services.now() };
  // It decides how people sign in, admins included.
  if (body.requires_second_factor !== undefined) requireReach(caller, ["manage:users"]);
  return services.database.transaction(async (tx) => {
    const tenant = await saveTenantChange(tx, caller.slug, { change: body, ...by });
    return dataReply(shownTenant(tenant, await findPrimaryClientId(tx, caller.tenant_id)));
  });
}

type Changing = { change: TenantChange; actor: string; now: string };

// Returns the tenant after the change. An event is recorded only if something changed.
export async function saveTenantChange(tx: Queryable, slug: string, { change, actor, now }: Changing): Promise<TenantRow> {
  const tenant = await lockTenant(tx, slug);
  if (!tenant) throw notFound("Tenant", slug);
  const changed = changeTenant(tenant, change);
  if (changed === tenant) return tenant;
  await requireIdentitySecret(tx, changed, now);
  await saveTenant(tx, changed);
  const resource = { type: "tenant" as const, id: tenant.tenant_id };
  await appendEvents(tx, tenant.tenant_id, [{ type: "tenant.updated", occurred_at: now, actor, resource, data: { ...change } }]);
  return changed;
}

// Without a secret, no identity could be verified.
async function requireIdentitySecret(tx: Queryable, { tenant_id, identity_verification }: TenantRow, now: string): Promise<void> {
  if (identity_verification === "off" || (await listIdentitySecrets(tx, tenant_id, now)).length > 0) return;
  throw invalid([{ field: "identity_verification", message: "needs an identity secret; create one first" }]);
}

async function rotate(services: Services, call: Call<{ revoke_now?: boolean }>): Promise<Reply> {
  const { tenant_id, slug } = call.caller;
  const clientId = await findPrimaryClientId(services.database, tenant_id);
  if (clientId === undefined) throw notFound("Client of tenant", slug);
  const event = { type: "tenant.secret_rotated" as const, resource: { type: "tenant" as const, id: tenant_id } };
  return rotateSecret(services, call, { clientId, event });
}

export const tenantOperations: Operation[] = [
  operation({
    id: "getTenant",
    method: "GET",
    path: "/tenants",
    scope: "read:tenant",
    tag: "Tenant",
    summary: "Read your own tenant",
    success: { status: 200, description: "The tenant", schema: Tenant },
    problems: ["item-not-found"],
    handle: read,
  }),
  operation({
    id: "updateTenant",
    method: "PUT",
    path: "/tenants",
    scope: "update:tenant",
    tag: "Tenant",
    summary: "Change your own tenant",
    description:
      "Omitted members do not change. A list replaces the previous one. A shorter `retention_days` takes effect within a day. A longer one does not restore data that was already removed. `requires_second_factor` also requires the scope manage:users.",
    body: TenantChange,
    faults: tenantChangeFaults,
    success: { status: 200, description: "The tenant after the change", schema: Tenant },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: {
      allowed_origins: ["https://shop.example"],
      ip_policy: "truncate",
      url_parameters: ["utm_source"],
      retention_days: 30,
      time_zone: "Europe/Berlin",
    },
    handle: update,
  }),
  operation({
    id: "rotateAuthSecret",
    method: "POST",
    path: "/tenants/rotate-auth-secret",
    scope: "update:tenant_auth_secret",
    tag: "Tenant",
    summary: "Rotate the client secret",
    description: `Creates a new secret for the client that was created with the tenant. ${rotationWords}`,
    body: Type.Object({ revoke_now: Type.Optional(Type.Boolean()) }, { additionalProperties: false, $id: "RotateAuthSecret" }),
    isBodyOptional: true,
    success: { status: 200, description: "The new secret, shown only once", schema: RotatedSecret },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { revoke_now: false },
    handle: rotate,
  }),
];
