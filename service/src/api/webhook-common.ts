import type { Queryable } from "../db/postgres/database.ts";
import { findSharedView } from "../db/views.ts";
import { listWebhooks } from "../db/webhooks.ts";
import { notFound } from "../domain/failure.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { addressesHint, formatFaults, urlFault, type Webhook, type WebhookFormat } from "../domain/webhook.ts";
import { isPrivateHost } from "../webhook/address.ts";
import { invalid } from "./http/validate.ts";
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

// For a URL that the service will send requests to.
export function requireUrl({ webhooks: { isPrivateAllowed } }: Services, field: string, url: string): void {
  const isRefused = !isPrivateAllowed && isPrivateHost(url);
  const fault = urlFault(url, { isPrivateAllowed }) ?? (isRefused ? `must not be a private address; ${addressesHint}` : null);
  if (fault !== null) throw invalid([{ field, message: fault }]);
}

export function requireFormat(chosen: Parameters<typeof formatFaults>[0]): void {
  const faults = formatFaults(chosen);
  if (faults.length > 0) throw invalid(faults);
}

export async function requireSharedView(tx: Queryable, tenantId: string, viewId: string | null): Promise<void> {
  if (viewId === null || (isCanonicalUuid(viewId) && (await findSharedView(tx, tenantId, viewId)))) return;
  throw invalid([{ field: "view_id", message: "must be a shared view" }]);
}

// Whoever knows the address of a chat's webhook can write to the chat, so the log has only its beginning.
export function loggedUrl(url: string, format: WebhookFormat): string {
  return format === "standard" ? url : `${URL.parse(url)?.origin ?? ""}/…`;
}
