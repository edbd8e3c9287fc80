import { randomBytes } from "node:crypto";
import { Type } from "typebox";
import { countClients, findOwnClient, listClients } from "../db/clients.ts";
import { appendEvents } from "../db/events.ts";
import { insertClient, saveRevoked } from "../db/tenants.ts";
import { ApiClient, MadeClient, NewApiClient, clientsMax } from "../domain/client.ts";
import type { EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { isStorable } from "../domain/text.ts";
import { requireReach } from "../domain/role.ts";
import { RotatedSecret } from "../domain/tenant.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { rotateSecret, rotationWords } from "./tokens/secret-rotation.ts";
import { hashSecret, newSecret } from "./tokens/secret.ts";
import { invalid } from "./http/validate.ts";

function eventOf(type: EventType, { caller }: Call, about: { client_id: string; now: string; data?: Record<string, unknown> }) {
  const resource = { type: "client" as const, id: about.client_id };
  return { type, occurred_at: about.now, actor: caller.actor, resource, ...(about.data && { data: about.data }) };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ clients: await listClients(services.database, caller.tenant_id, services.now()) });
}

async function create(services: Services, call: Call<NewApiClient>): Promise<Reply> {
  const { caller } = call;
  const scopes = [...new Set(call.body.scopes)];
  requireReach(caller, scopes);
  const [secret, now] = [newSecret(), services.now()];
  const client_id = `${caller.slug.slice(0, 100)}-${randomBytes(6).toString("hex")}`;
  const shown = { client_id, scopes, is_primary: false, created_at: now };
  const client = { tenant_id: caller.tenant_id, ...shown, secret_hash: await hashSecret(secret) };
  await services.database.transaction(async (tx) => {
    if ((await countClients(tx, caller.tenant_id)) >= clientsMax)
      throw invalid([{ field: "scopes", message: `must not create another client: a tenant has at most ${clientsMax}` }]);
    if (!(await insertClient(tx, client)))
      throw new Failure("transaction-contended", "The generated id is already in use. Send the request again.");
    await appendEvents(tx, caller.tenant_id, [eventOf("client.created", call, { client_id, now, data: { scopes } })]);
  });
  services.audit("client created", { tenant: caller.slug, actor: caller.actor, client_id });
  return dataReply({ client: shown, client_secret: secret }, 201);
}

function idOf({ params }: Call): string {
  const id = params["client_id"] ?? "";
  if (!isStorable(id)) throw notFound("Client", id);
  return id;
}

function rotate(services: Services, call: Call<{ revoke_now?: boolean }>): Promise<Reply> {
  const clientId = idOf(call);
  const event = { type: "client.secret_rotated" as const, resource: { type: "client" as const, id: clientId } };
  return rotateSecret(services, call, { clientId, event });
}

async function revoke(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const client_id = idOf(call);
  const client = await findOwnClient(services.database, caller.tenant_id, client_id);
  if (!client) throw notFound("Client", client_id);
  requireReach(caller, client.scopes);
  const now = services.now();
  await services.database.transaction(async (tx) => {
    if (!(await saveRevoked(tx, { client_id, now, tenant_id: caller.tenant_id }))) throw notFound("Client", client_id);
    await appendEvents(tx, caller.tenant_id, [eventOf("client.revoked", call, { client_id, now })]);
  });
  services.audit("client revoked", { tenant: caller.slug, actor: caller.actor, client_id });
  return { status: 204, body: "", headers: {} };
}

export const clientOperations: Operation[] = [
  operation({
    id: "listClients",
    method: "GET",
    path: "/clients",
    scope: "read:clients",
    tag: "Tenant",
    summary: "List the tenant's clients",
    description: "In order of creation, including revoked ones.",
    success: {
      status: 200,
      description: "The clients, without their secrets",
      schema: Type.Object({ clients: Type.Array(ApiClient) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "createClient",
    method: "POST",
    path: "/clients",
    scope: "manage:clients",
    tag: "Tenant",
    summary: "Create another client",
    description: `The secret is shown only once. A tenant has at most ${clientsMax} clients that are not revoked.`,
    body: NewApiClient,
    success: { status: 201, description: "The client, and its secret", schema: MadeClient },
    problems: ["bad-request", "transaction-contended"],
    example: { scopes: ["read:cases", "read:case"] },
    handle: create,
  }),
  operation({
    id: "rotateClientSecret",
    method: "POST",
    path: "/clients/{client_id}/rotate-secret",
    scope: "manage:clients",
    tag: "Tenant",
    summary: "Rotate a client's secret",
    description: rotationWords,
    body: Type.Object({ revoke_now: Type.Optional(Type.Boolean()) }, { additionalProperties: false, $id: "RotateClientSecret" }),
    isBodyOptional: true,
    success: { status: 200, description: "The new secret, shown only once", schema: RotatedSecret },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { revoke_now: false },
    handle: rotate,
  }),
  operation({
    id: "revokeClient",
    method: "DELETE",
    path: "/clients/{client_id}",
    scope: "manage:clients",
    tag: "Tenant",
    summary: "Revoke a client",
    description:
      "The client gets no more tokens, and its existing tokens stop working. The caller must hold every scope of the client.",
    success: { status: 204, description: "The client is revoked" },
    problems: ["item-not-found", "transaction-contended"],
    handle: revoke,
  }),
];
