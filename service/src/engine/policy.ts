import { saveQuarantined, type Flags } from "../db/accounts.ts";
import type { DomainEvent } from "../domain/event.ts";
import { actionOf, momentOf, type PolicyDefinition, type Situation } from "../domain/policy.ts";
import type { Batch } from "./cases.ts";
import type { Judged } from "./judging.ts";

type Given = { judged: Judged[]; flags: Map<string, Flags> };

// Quarantines accounts according to the policy. The batch holds locks on the rows of its accounts, so nobody changes a flag
// meanwhile. Returns the events of the changes.
export async function quarantineByPolicy(
  { tx, tenantId, now }: Batch,
  policy: PolicyDefinition | undefined,
  { judged, flags }: Given,
): Promise<DomainEvent[]> {
  if (!policy?.rows.some((row) => row.set_quarantined)) return [];
  const wanted = new Set<string>();
  for (const each of judged) {
    const account = suspectIn(each);
    const known = account === null ? undefined : flags.get(account);
    if (account === null || !known || known.is_quarantined) continue;
    if (actionOf(policy, situationOf(each, known)).set_quarantined) wanted.add(account);
  }
  if (wanted.size === 0) return [];
  const changed = await saveQuarantined(tx, tenantId, { ids: [...wanted], now });
  return changed.map(({ website_account_id: id, updated_at }): DomainEvent => ({
    type: "account.updated",
    occurred_at: updated_at,
    actor: "system",
    resource: { type: "end_user_account", id },
    data: { is_quarantined: true },
  }));
}

// An account that does not exist yet has no flags and is not blocked.
export function situationOf(judged: Judged, flags?: Pick<Flags, "is_blocked">): Situation {
  const { activity, score, labels, lists } = judged;
  return { moment: momentOf(activity), score, labels, lists, isBlocked: flags?.is_blocked ?? false };
}

// Returns the account that the activity is evidence against. Anybody can cause a failed log-in, and anybody can forge what a page
// claims. If the evidence is about somebody else, such as the payee, the account is a victim. A sign-up is different: the source
// that the evidence is about created the account.
function suspectIn({ activity, source, isOfAccount }: Judged): string | null {
  if (source === "page" || activity.type === "login_failed") return null;
  return isOfAccount || activity.type === "signup" ? (activity.website_account_id ?? null) : null;
}
