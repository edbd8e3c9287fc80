import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import {
  findServerDay,
  insertIdentitySecret,
  listIdentityDays,
  listIdentitySecrets,
  retireIdentitySecrets,
} from "../db/identity.ts";
import { findTenant, lockTenant, saveTenant } from "../db/tenants.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { Identity, NewIdentitySecret, identitySecretsMax, type IdentitySecret } from "../domain/identity.ts";
import { isStillTold } from "../domain/source.ts";
import { previousSecretMs } from "../domain/tenant.ts";
import { newIdentitySecret } from "./tokens/identity-token.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const daysShown = 7;
const dayMs = 24 * 60 * 60 * 1000;

async function read(services: Services, { caller }: Call): Promise<Reply> {
  const { database } = services;
  const now = services.now();
  const [tenant, secrets, days, serverDay] = await Promise.all([
    findTenant(database, caller.slug),
    listIdentitySecrets(database, caller.tenant_id, now),
    listIdentityDays(database, caller.tenant_id, {
      from: new Date(Date.parse(now) - (daysShown - 1) * dayMs).toISOString().slice(0, 10),
      to: now.slice(0, 10),
    }),
    findServerDay(database, caller.tenant_id),
  ]);
  if (!tenant) throw notFound("Tenant", caller.slug);
  const { identity_verification } = tenant;
  const isSnippetOnly = identity_verification === "off" && !isStillTold(serverDay, now);
  return dataReply({ identity_verification, secrets, days, is_snippet_only: isSnippetOnly });
}

type Rotating = { isRevoking: boolean; actor: string; now: string; secretId: string };

// Creates the tenant's new current secret. The first one switches verification from off to observe.
export async function rotateIdentitySecret(
  tx: Queryable,
  slug: string,
  { isRevoking, actor, now, secretId }: Rotating,
): Promise<NewIdentitySecret> {
  const tenant = await lockTenant(tx, slug);
  if (!tenant) throw notFound("Tenant", slug);
  const { tenant_id } = tenant;
  const before = await listIdentitySecrets(tx, tenant_id, now);
  if (!isRevoking && before.length >= identitySecretsMax) throw tooMany(before);
  const until = isRevoking ? null : new Date(Date.parse(now) + previousSecretMs).toISOString();
  const secret = newIdentitySecret();
  await retireIdentitySecrets(tx, tenant_id, until);
  await insertIdentitySecret(tx, tenant_id, { secret_id: secretId, secret, created_at: now });
  const about = { occurred_at: now, actor, resource: { type: "tenant" as const, id: tenant_id } };
  const data = { secret_id: secretId, revoke_now: isRevoking };
  const events: DomainEvent[] = [{ type: "tenant.identity_secret_rotated", ...about, data }];
  const isFirst = before.length === 0 && tenant.identity_verification === "off";
  const identity_verification = isFirst ? "observe" : tenant.identity_verification;
  if (isFirst) {
    await saveTenant(tx, { ...tenant, identity_verification });
    events.push({ type: "tenant.updated", ...about, data: { identity_verification } });
  }
  await appendEvents(tx, tenant_id, events);
  const hasPrevious = until !== null && before.length > 0;
  return { secret_id: secretId, secret, identity_verification, ...(hasPrevious && { previous_secret_expires_at: until }) };
}

// Earlier responses promised that each of them works for another day, so none is dropped to make room.
function tooMany(secrets: IdentitySecret[]): Failure {
  const [oldest] = secrets.flatMap((each) => each.expires_at ?? []).toSorted();
  const detail = `${secrets.length} identity secrets are valid. Wait until ${oldest}, or send revoke_now to revoke them all.`;
  return new Failure("validation-error", detail, {
    errors: [{ field: "body", message: `must not create another secret: at most ${identitySecretsMax} can be valid at once` }],
  });
}

async function rotate(services: Services, { caller, body }: Call<{ revoke_now?: boolean }>): Promise<Reply> {
  const isRevoking = body.revoke_now === true;
  const by = { isRevoking, actor: caller.actor, now: services.now(), secretId: services.newId() };
  const made = await services.database.transaction((tx) => rotateIdentitySecret(tx, caller.slug, by));
  const { secret_id } = made;
  services.audit("identity secret rotated", { tenant: caller.slug, actor: caller.actor, secret_id, revoke_now: isRevoking });
  return dataReply(made, 201);
}

export const identityOperations: Operation[] = [
  operation({
    id: "getIdentity",
    method: "GET",
    path: "/tenants/identity",
    scope: "read:tenant",
    tag: "Tenant",
    summary: "Read the settings of signed identity",
    description: "Includes how many events that named an account were vouched for, and by what.",
    success: { status: 200, description: "The setting, the valid secrets without their text, and the counts", schema: Identity },
    problems: ["item-not-found"],
    handle: read,
  }),
  operation({
    id: "createIdentitySecret",
    method: "POST",
    path: "/tenants/identity/secrets",
    scope: "update:tenant_auth_secret",
    tag: "Tenant",
    summary: "Create a secret for signing identity tokens",
    description:
      "The new secret becomes the current one. Each older one works for 24 hours after it was replaced. If revoke_now is true, all older ones stop working at once instead. At most 5 secrets are valid at the same time. The first secret changes identity_verification from off to observe.",
    body: Type.Object(
      { revoke_now: Type.Optional(Type.Boolean()) },
      { additionalProperties: false, $id: "IdentitySecretChange" },
    ),
    isBodyOptional: true,
    success: { status: 201, description: "The new secret, shown only once", schema: NewIdentitySecret },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { revoke_now: false },
    handle: rotate,
  }),
];
