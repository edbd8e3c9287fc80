import { insertSeenAccounts, saveSessionTimes, saveSpokenFor, type Flags, type SeenAccount } from "../db/accounts.ts";
import { deleteLearned } from "../db/states.ts";
import { isOfItsAccount, type EnrichedActivity } from "../detection/scene.ts";
import { isPseudonym } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Batch } from "./cases.ts";

// The first activity that counts for an account creates it. If only pages had named an account so far and a server or a signature
// now names it, the account starts afresh: everything learned from pages is discarded. `haveAfresh`: some accounts did.
export async function seeAccounts(
  { tx, tenantId, now }: Batch,
  inOrderOfTime: EnrichedActivity[],
): Promise<{ events: DomainEvent[]; flags: Map<string, Flags>; haveAfresh: boolean }> {
  const seen = accountsIn(inOrderOfTime);
  const created: string[] = [];
  const flags = new Map<string, Flags>();
  const claimed = new Set<string>();
  // If an erasure commits while we wait for the row, the account is gone and must be created again.
  for (let missing = [...seen.values()]; missing.length > 0;) {
    const [inserted, locked] = await Promise.all([
      insertSeenAccounts(tx, tenantId, { seen: missing, now }),
      saveSessionTimes(tx, tenantId, missing),
    ]);
    created.push(...inserted);
    for (const [id, { is_claimed, ...each }] of locked) {
      flags.set(id, each);
      if (is_claimed) claimed.add(id);
    }
    missing = missing.filter(({ id }) => !flags.has(id));
  }
  const proved = [...claimed].flatMap((id) => seen.get(id) ?? []).filter(({ isClaimed }) => !isClaimed);
  if (proved.length > 0) {
    await saveSpokenFor(tx, tenantId, proved);
    const ids = proved.map(({ id }) => id);
    await deleteLearned(tx, tenantId, ids);
  }
  const events = created.map((id): DomainEvent => ({
    type: "account.created",
    occurred_at: now,
    actor: "system",
    resource: { type: "end_user_account", id },
  }));
  return { events, flags, haveAfresh: proved.length > 0 };
}

function accountsIn(inOrderOfTime: EnrichedActivity[]): Map<string, SeenAccount> {
  const seen = new Map<string, SeenAccount>();
  for (const { activity, source, at } of inOrderOfTime) {
    const { website_account_id: id, session_id } = activity;
    const session = isOfItsAccount(activity) ? session_id : undefined;
    // A report of an erased account must not recreate the account.
    if (id === undefined || isPseudonym(id)) continue;
    const before = seen.get(id);
    // A page can send any time, so for a page the time of receipt is used.
    const first = source === "page" ? activity.received_at : new Date(at).toISOString();
    const isClaim = source === "page";
    const isFirst = !before || (isClaim === before.isClaimed ? first < before.first_at : !isClaim);
    seen.set(id, {
      id,
      isClaimed: isClaim && before?.isClaimed !== false,
      first_at: isFirst ? first : before.first_at,
      session_at: session === undefined ? (before?.session_at ?? null) : new Date(at).toISOString(),
    });
  }
  return seen;
}
