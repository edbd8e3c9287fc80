import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  saveWebhook,
  saveWebhookSecret,
} from "../db/webhooks.ts";
import type { EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { requireReach } from "../domain/role.ts";
import { previousSecretMs } from "../domain/tenant.ts";
import { NewWebhook, Webhook, WebhookChange, WebhookSecret, webhookReach, webhookTypes, webhooksMax } from "../domain/webhook.ts";
import { newWebhookSecret } from "../webhook/signature.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { common, idOf, loggedUrl, noun, requireFormat, requireSharedView, requireUrl, showWebhook } from "./webhook-common.ts";
import { deliveryOperations } from "./webhook-deliveries.ts";

// No single member is wrong, so the error names the whole body.
const tooMany = () =>
  new Failure("validation-error", `The tenant already has the maximum of ${webhooksMax} webhooks. Delete one first.`, {
    errors: [{ field: "body", message: `must not create another webhook: a tenant has at most ${webhooksMax}` }],
  });

function eventOf(type: EventType, { caller }: Call, about: { id: string; now: string; data?: Record<string, unknown> }) {
  const resource = { type: "webhook" as const, id: about.id };
  return { type, occurred_at: about.now, actor: caller.actor, resource, ...(about.data && { data: about.data }) };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ webhooks: await listWebhooks(services.database, caller.tenant_id, { now: services.now() }) });
}

async function get(services: Services, call: Call): Promise<Reply> {
  return dataReply(await showWebhook(services, call, idOf(call)));
}

async function create(services: Services, call: Call<NewWebhook>): Promise<Reply> {
  const { caller, body } = call;
  requireReach(caller, webhookReach);
  requireUrl(services, "url", body.url);
  const { format = "standard", details = "none", view_id = null } = body;
  requireFormat({ ...body, format });
  const [id, secret, now] = [services.newId(), newWebhookSecret(), services.now()];
  const types = [...new Set(body.types)];
  const data = { url: loggedUrl(body.url, format), types, ...(format !== "standard" && { format, details }) };
  await services.database.transaction(async (tx) => {
    // Done first, because it locks the tenant's counter, so no other request can add a webhook after the count.
    await appendEvents(tx, caller.tenant_id, [eventOf("webhook.created", call, { id, now, data })]);
    await requireSharedView(tx, caller.tenant_id, view_id);
    if ((await countWebhooks(tx, caller.tenant_id)) >= webhooksMax) throw tooMany();
    await insertWebhook(tx, caller.tenant_id, { webhook_id: id, url: body.url, types, format, details, view_id, secret, now });
  });
  services.audit("webhook created", { tenant: caller.slug, actor: caller.actor, webhook_id: id });
  return dataReply({ webhook: await showWebhook(services, call, id), secret }, 201);
}

async function update(services: Services, call: Call<WebhookChange>): Promise<Reply> {
  const { caller, body } = call;
  const id = idOf(call);
  requireReach(caller, webhookReach);
  if (body.url !== undefined) requireUrl(services, "url", body.url);
  const now = services.now();
  const change = { ...body, ...(body.types && { types: [...new Set(body.types)] }) };
  const { url = null, types = null, is_enabled = null, details = null, view_id } = change;
  await services.database.transaction(async (tx) => {
    const found = await findWebhook(tx, caller.tenant_id, id);
    if (!found) throw notFound(noun, id);
    requireFormat({ ...change, format: found.format });
    await requireSharedView(tx, caller.tenant_id, view_id ?? null);
    await saveWebhook(tx, caller.tenant_id, id, { url, types, is_enabled, details, view_id, now });
    const data = { ...change, ...(url !== null && { url: loggedUrl(url, found.format) }) };
    await appendEvents(tx, caller.tenant_id, [eventOf("webhook.updated", call, { id, now, data })]);
  });
  services.audit("webhook updated", { tenant: caller.slug, actor: caller.actor, webhook_id: id });
  return dataReply(await showWebhook(services, call, id));
}

async function remove(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const [id, now] = [idOf(call), services.now()];
  await services.database.transaction(async (tx) => {
    if (!(await deleteWebhook(tx, caller.tenant_id, id))) throw notFound(noun, id);
    await appendEvents(tx, caller.tenant_id, [eventOf("webhook.deleted", call, { id, now })]);
  });
  services.audit("webhook deleted", { tenant: caller.slug, actor: caller.actor, webhook_id: id });
  return { status: 204, body: "", headers: {} };
}

async function rotate(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const id = idOf(call);
  requireReach(caller, webhookReach);
  const [now, secret] = [services.now(), newWebhookSecret()];
  const previous_until = new Date(Date.parse(now) + previousSecretMs).toISOString();
  await services.database.transaction(async (tx) => {
    if (!(await saveWebhookSecret(tx, caller.tenant_id, id, { secret, previous_until, now }))) throw notFound(noun, id);
    await appendEvents(tx, caller.tenant_id, [eventOf("webhook.secret_rotated", call, { id, now })]);
  });
  services.audit("webhook secret rotated", { tenant: caller.slug, actor: caller.actor, webhook_id: id });
  return dataReply({ webhook: await showWebhook(services, call, id), secret });
}

export const webhookOperations: Operation[] = [
  operation({
    ...common,
    id: "listWebhooks",
    method: "GET",
    path: "/webhooks",
    summary: "List the tenant's webhooks",
    success: {
      status: 200,
      description: "The webhooks, without their secrets",
      schema: Type.Object({ webhooks: Type.Array(Webhook) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    ...common,
    id: "createWebhook",
    method: "POST",
    path: "/webhooks",
    summary: "Have changes posted to a URL",
    description: [
      `Every later event of the types ${webhookTypes.map((type) => `\`${type}\``).join(", ")}, or only of those in \`types\`, is posted to the URL as JSON, in the form of the feed. Messages are signed with the secret by the Standard Webhooks scheme. The secret is shown only once.`,
      "A 2xx response within 15 seconds counts as delivered. Anything else is retried with increasing delays for three days and then abandoned. `listWebhookDeliveries` shows the abandoned messages, and `resendWebhookDeliveries` sends them again. Redirects are not followed. The next message about a case or an account is sent after the one before it was delivered or abandoned. A message can arrive twice, with the same `webhook-id`.",
      `The caller must hold the scopes ${webhookReach.map((scope) => `\`${scope}\``).join(", ")}. A tenant has at most ${webhooksMax}.`,
    ].join("\n\n"),
    body: NewWebhook,
    success: { status: 201, description: "The webhook, and its secret", schema: WebhookSecret },
    problems: ["bad-request", "transaction-contended"],
    example: { url: "https://crm.example/casehound", types: ["case.opened", "case.closed"] },
    handle: create,
  }),
  operation({
    ...common,
    id: "getWebhook",
    method: "GET",
    path: "/webhooks/{webhook_id}",
    summary: "Read a webhook",
    success: { status: 200, description: "The webhook", schema: Webhook },
    problems: ["item-not-found"],
    handle: get,
  }),
  operation({
    ...common,
    id: "updateWebhook",
    method: "PUT",
    path: "/webhooks/{webhook_id}",
    summary: "Change a webhook, or switch it off or on",
    description:
      "Omitted members do not change. A webhook that is switched on again continues where it stopped: events from the time in between are sent too.",
    body: WebhookChange,
    success: { status: 200, description: "The webhook", schema: Webhook },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { is_enabled: false },
    handle: update,
  }),
  operation({
    ...common,
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/webhooks/{webhook_id}/rotate-secret",
    summary: "Rotate a webhook's secret",
    description: "For 24 hours, messages are signed with both the new secret and the previous one.",
    success: { status: 200, description: "The webhook, and its new secret, shown only once", schema: WebhookSecret },
    problems: ["item-not-found", "transaction-contended"],
    handle: rotate,
  }),
  ...deliveryOperations,
  operation({
    ...common,
    id: "deleteWebhook",
    method: "DELETE",
    path: "/webhooks/{webhook_id}",
    summary: "Delete a webhook",
    description: "Messages that are still waiting are not sent.",
    success: { status: 204, description: "The webhook is deleted" },
    problems: ["item-not-found", "transaction-contended"],
    handle: remove,
  }),
];
