import { Type } from "typebox";
import { listDeliveries, resendDeliveries } from "../db/deliveries.ts";
import { findWebhook } from "../db/webhooks.ts";
import { notFound } from "../domain/failure.ts";
import { Delivery, WebhookTest, deliveryStates, type DeliveryState } from "../domain/webhook.ts";
import { chatBody } from "../webhook/chat-body.ts";
import { messageOf } from "../webhook/message.ts";
import { post } from "../webhook/post.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { common, idOf, noun, showWebhook } from "./webhook-common.ts";

// Sent at once, independently of waiting messages, so whoever sets up a receiver sees the result.
async function test(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const id = idOf(call);
  const webhook = await findWebhook(services.database, caller.tenant_id, id);
  if (!webhook) throw notFound(noun, id);
  const now = services.now();
  const event = { event_id: 0, type: "webhook.test", occurred_at: now, actor: caller.actor, resource: { type: "webhook", id } };
  const chat = { title: "Test message from Casehound", lines: [], url: `${services.publicUrl}/` };
  const body = webhook.format === "standard" ? JSON.stringify(event) : chatBody(webhook, chat);
  const message = messageOf(webhook, { id: `test_${services.newId()}`, body, now });
  const startMs = performance.now();
  const posted = await post(message, services.webhooks);
  return dataReply({ ...posted, milliseconds: Math.round(performance.now() - startMs) });
}

async function deliveries(services: Services, call: Call): Promise<Reply> {
  const id = idOf(call);
  const { state } = call.query as { state?: DeliveryState };
  return listPage<Delivery, number>(services, call, {
    id: "listWebhookDeliveries",
    path: `/webhooks/${id}/deliveries`,
    name: "deliveries",
    key: { id, ...(state !== undefined && { state }) },
    read: async (before, limit) => {
      const page = { webhook_id: id, before, limit, ...(state !== undefined && { state }) };
      const found = await listDeliveries(services.database, call.caller.tenant_id, page);
      if (found.length === 0) await showWebhook(services, call, id);
      return found;
    },
    positionOf: (last) => last.event_id,
    show: (items) => items,
  });
}

async function resend(services: Services, call: Call<{ event_id?: number }>): Promise<Reply> {
  const { caller, body } = call;
  const id = idOf(call);
  const wanted = { webhook_id: id, event_id: body.event_id ?? null, now: services.now() };
  const resent = await services.database.transaction((tx) => resendDeliveries(tx, caller.tenant_id, wanted));
  if (resent === 0) {
    await showWebhook(services, call, id);
    if (body.event_id !== undefined) throw notFound("Delivery of the event", String(body.event_id));
  }
  services.audit("webhook messages resent", { tenant: caller.slug, actor: caller.actor, webhook_id: id, resent });
  return dataReply({ resent });
}

export const deliveryOperations: Operation[] = [
  operation({
    ...common,
    id: "testWebhook",
    method: "POST",
    path: "/webhooks/{webhook_id}/test",
    summary: "Send a test message",
    description: "Sends one message of the type `webhook.test` at once. The response says whether it was delivered.",
    success: { status: 200, description: "The result of the test", schema: WebhookTest },
    problems: ["item-not-found"],
    handle: test,
  }),
  operation({
    ...common,
    id: "listWebhookDeliveries",
    method: "GET",
    path: "/webhooks/{webhook_id}/deliveries",
    summary: "List a webhook's deliveries",
    description:
      "Delivered, waiting and abandoned messages, newest first. Delivered and abandoned messages are kept for 30 days.",
    query: Type.Object({ state: Type.Optional(Type.Enum([...deliveryStates])), limit: Limit, cursor: Cursor }),
    success: pageOf("deliveries", Delivery, "A page of deliveries"),
    problems: ["bad-request", "item-not-found"],
    handle: deliveries,
  }),
  operation({
    ...common,
    id: "resendWebhookDeliveries",
    method: "POST",
    path: "/webhooks/{webhook_id}/resend",
    summary: "Resend abandoned and waiting messages",
    description:
      "Sends all messages that were abandoned or wait for a later attempt, for example after an outage of the receiver. With `event_id`, sends only that event, whatever its state is. Each message is again retried for three days. While the webhook is off, the messages wait until it is on.",
    body: Type.Object(
      { event_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })) },
      { additionalProperties: false, $id: "ResendWebhook" },
    ),
    isBodyOptional: true,
    success: {
      status: 200,
      description: "How many messages are sent again",
      schema: Type.Object({ resent: Type.Integer() }, { additionalProperties: false }),
    },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: {},
    handle: resend,
  }),
];
