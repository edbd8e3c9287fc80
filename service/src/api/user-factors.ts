import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { deletePasskeys } from "../db/passkeys.ts";
import { deleteTotp, saveHasSecondFactor } from "../db/second-factors.ts";
import { deleteWebSessions } from "../db/web-sessions.ts";
import { Failure } from "../domain/failure.ts";
import type { User } from "../domain/user.ts";
import { operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { byCaller, changing, lockReached, userEvent, type By } from "./users.ts";

// Must run inside the transaction that has locked the user. The sessions end too, because whoever lost the factor may have lost the
// browser.
export async function resetFactors(tx: Queryable, tenantId: string, user: User, by: By): Promise<void> {
  await deleteTotp(tx, tenantId, user.user_id);
  await deletePasskeys(tx, tenantId, user.user_id);
  await saveHasSecondFactor(tx, tenantId, user.user_id);
  await deleteWebSessions(tx, tenantId, user);
  if (user.has_second_factor) await appendEvents(tx, tenantId, [userEvent("user.second_factor_reset", user.user_id, by)]);
}

async function reset(services: Services, call: Call): Promise<Reply> {
  const by = byCaller(services, call);
  const { tenant_id, slug } = call.caller;
  const user = await services.database.transaction(async (tx) => {
    const user = await lockReached(tx, call);
    // Otherwise a stolen session could remove its owner's second factor without the password.
    if (user.user_id === call.caller.person?.user_id)
      throw new Failure(
        "access-denied",
        "You cannot reset your own second factor. Change it under Two-factor authentication, or ask another admin.",
      );
    await resetFactors(tx, tenant_id, user, by);
    return user;
  });
  services.audit("second factor reset", { tenant: slug, actor: by.actor, user_id: user.user_id });
  return { status: 204, body: "", headers: {} };
}

export const userFactorOperations: Operation[] = [
  operation({
    ...changing,
    id: "resetSecondFactor",
    method: "DELETE",
    path: "/users/{user_id}/second-factor",
    summary: "Reset a person's second factor",
    description:
      "For a person who has lost the authenticator app, the passkeys and the recovery codes. Removes them all and signs the person out everywhere. The person then signs in with the password alone, and adds a new second factor if the tenant requires one. The caller must hold every scope of the person's role. People cannot reset their own.",
    success: { status: 204, description: "The person has no second factor" },
    problems: ["item-not-found", "transaction-contended"],
    handle: reset,
  }),
];
