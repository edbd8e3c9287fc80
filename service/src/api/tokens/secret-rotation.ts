import { findOwnClient, lockSecrets, saveSecrets } from "../../db/clients.ts";
import { appendEvents } from "../../db/events.ts";
import { rotateSecrets } from "../../domain/client.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { notFound } from "../../domain/failure.ts";
import { requireReach } from "../../domain/role.ts";
import { dataReply, type Call, type Services } from "../operation.ts";
import type { Reply } from "../http/problem.ts";
import { hashSecret, newSecret } from "./secret.ts";

export const rotationWords =
  "The replaced secret works for another 24 hours, even if the secret is rotated again in the meantime. Up to 5 earlier secrets work at the same time; a further rotation is rejected with 429 until the oldest one ends. With revoke_now, all earlier secrets and the tokens issued for them stop working at once. The caller must hold every scope of the client.";

type Rotation = { clientId: string; event: Pick<DomainEvent, "type" | "resource"> };

// A new secret lets its holder do whatever the client may do, so the caller must be able to do all of that already.
export async function rotateSecret(
  services: Services,
  { caller, body }: Call<{ revoke_now?: boolean }>,
  { clientId, event }: Rotation,
): Promise<Reply> {
  const { tenant_id, slug, actor } = caller;
  const client = await findOwnClient(services.database, tenant_id, clientId);
  if (!client) throw notFound("Client", clientId);
  requireReach(caller, client.scopes);
  const [now, secret, revokeNow] = [services.now(), newSecret(), body.revoke_now === true];
  const secret_hash = await hashSecret(secret, client.secret_hash);
  const { previous_secrets } = await services.database.transaction(async (tx) => {
    const before = await lockSecrets(tx, tenant_id, clientId);
    if (!before) throw notFound("Client", clientId);
    const after = rotateSecrets(before, { secret_hash, revokeNow, now });
    await saveSecrets(tx, tenant_id, { client_id: clientId, ...after });
    await appendEvents(tx, tenant_id, [{ ...event, occurred_at: now, actor, data: { revoke_now: revokeNow } }]);
    return after;
  });
  services.audit("client secret rotated", { tenant: slug, actor, client_id: clientId, revoke_now: revokeNow });
  const until = previous_secrets.at(-1)?.until;
  const promised = until !== undefined && { previous_secret_expires_at: until };
  return dataReply({ client_id: clientId, client_secret: secret, ...promised });
}
