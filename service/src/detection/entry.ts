import { ringHash } from "./ring-hash.ts";
import type { Scene } from "./scene.ts";
import { addNew, newcomers } from "./shared.ts";
import { valuesToSet, type RuleContext } from "./vector.ts";

// Sets the fields that count new accounts for what a sign-up or a log-in shares with others, such as a block of addresses. An
// account is new if it signs up there, or if it logs in there on a device that it never used. So guests at an event, who bring
// their own devices, are not new.
export function observeEntry(context: RuleContext, { event, mailbox, look, subnet, ringKey }: Scene): void {
  const { type, website_account_id: id } = event.activity;
  const isNew = type === "signup" || context.account["device_is_new"] === true;
  for (const [group, shared] of [
    ["mailbox", mailbox],
    ["look", look],
    ["block", subnet],
  ] as const) {
    if (!shared) continue;
    // If the event adds no account, the entity is not saved.
    if (isNew && id !== undefined) {
      // An earlier event of the same batch may have made the entity without adding an account. What is stored must not depend on
      // how events are divided into batches.
      if (shared.facts.fresh === 0) Object.assign(shared.facts, { first: event.at, last: event.at });
      shared.facts.first = Math.min(shared.facts.first, event.at);
      addNew(shared, { at: event.at, account: ringHash(id, ringKey) });
    }
    Object.assign(valuesToSet(context, group), newcomers(shared, event.at));
  }
}
