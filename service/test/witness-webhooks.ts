import { randomUUID } from "node:crypto";
import type { TestTenant } from "./harness.ts";
import { below } from "./witness-people.ts";
import type { Sample } from "./witness.ts";

const body = { url: "https://crm.example/hook", types: ["case.opened"] };

// Disabled, so that nothing is sent.
async function webhookPath(tenant: TestTenant): Promise<string> {
  const made = await tenant.call("POST", "/webhooks", { body });
  const { webhook }: { webhook: { webhook_id: string } } = made.json.data;
  const path = `/webhooks/${webhook.webhook_id}`;
  await tenant.call("PUT", path, { body: { is_enabled: false } });
  return path;
}

// The requests for webhooks.
export const webhookTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  listWebhooks: async (tenant) => {
    await webhookPath(tenant);
    return [{ path: "/webhooks", status: 200 }];
  },
  createWebhook: async () => [
    { path: "/webhooks", options: { body }, status: 201 },
    { path: "/webhooks", options: { body: { url: "https://10.0.0.1/" } }, status: 422, type: "validation-error" },
  ],
  getWebhook: async (tenant) => [{ path: await webhookPath(tenant), status: 200 }],
  updateWebhook: async (tenant) => [{ path: await webhookPath(tenant), options: { body: { types: [] } }, status: 200 }],
  rotateWebhookSecret: async (tenant) => below(`${await webhookPath(tenant)}/rotate-secret`, { status: 200 }),
  testWebhook: async (tenant) => below(`${await webhookPath(tenant)}/test`, { status: 200 }),
  listWebhookDeliveries: async (tenant) => below(`${await webhookPath(tenant)}/deliveries`, { status: 200 }),
  resendWebhookDeliveries: async (tenant) => {
    const path = `${await webhookPath(tenant)}/resend`;
    return [
      ...below(path, { options: { body: {} }, status: 200 }),
      { path, options: { body: { event_id: 7 } }, status: 404, type: "item-not-found" },
    ];
  },
  deleteWebhook: async (tenant) => [
    { path: await webhookPath(tenant), status: 204 },
    { path: `/webhooks/${randomUUID()}`, status: 404, type: "item-not-found" },
  ],
};
