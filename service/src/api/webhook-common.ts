import { listWebhooks } from "../db/webhooks.ts";
import { notFound } from "../domain/failure.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import type { Webhook } from "../domain/webhook.ts";
import type { Call, Services } from "./operation.ts";

export const noun = "Webhook";

// A malformed id cannot exist, so it is treated as not found.
export function idOf({ params }: Call): string {
  const id = params["webhook_id"] ?? "";
  if (!isCanonicalUuid(id)) throw notFound(noun, id);
  return id;
}

export async function showWebhook(services: Services, { caller }: Call, id: string): Promise<Webhook> {
  const [found] = await listWebhooks(services.database, caller.tenant_id, { now: services.now(), only: id });
  if (!found) throw notFound(noun, id);
  return found;
}

export const common = { scope: "manage:webhooks", tag: "Webhooks" } as const;
