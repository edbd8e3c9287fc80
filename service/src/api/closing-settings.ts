import { saveClosingSetting, type ClosingKind, type ClosingSetting } from "../db/closing-settings.ts";
import { appendEvents } from "../db/events.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import type { DomainEvent } from "../domain/event.ts";
import { dataReply, type Caller, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

type Replacing<W, T> = {
  kind: ClosingKind;
  find: (tx: Queryable, tenantId: string) => Promise<W>;
  // Returns what was found if nothing differs, and throws if the version is stale.
  change: (found: W, actor: { name: string; now: string }) => W;
  toStored: (changed: W) => ClosingSetting<T>;
  eventType: DomainEvent["type"];
  // What the event says.
  tell: (changed: W) => Record<string, unknown>;
};

// Replaces one of the settings for closing cases, under the lock on the tenant's settings.
export function replaceClosingSetting<W, T>(services: Services, caller: Caller, replacing: Replacing<W, T>): Promise<Reply> {
  const { kind, find, change, toStored, eventType: type, tell } = replacing;
  const { tenant_id: tenantId, actor } = caller;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    const found = await find(tx, tenantId);
    const changed = change(found, { name: actor, now });
    if (changed === found) return dataReply(found);
    const stored = toStored(changed);
    await saveClosingSetting(tx, tenantId, { kind, ...stored });
    const resource = { type: "tenant" as const, id: tenantId, version: stored.version };
    const data = tell(changed);
    await appendEvents(tx, tenantId, [{ type, occurred_at: stored.updated_at, actor, resource, data }]);
    return dataReply(changed);
  });
}
