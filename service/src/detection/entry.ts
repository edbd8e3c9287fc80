import { ringHash } from "./ring-hash.ts";
import type { Scene } from "./scene.ts";
import { addNew, newcomers } from "./shared.ts";
import { valuesToSet, type RuleContext } from "./vector.ts";

// Reads how many accounts are new to what a sign-up or a log-in shares with others. New are accounts that sign up there, or that log
// in on a device they never used. So guests at an event, who bring their own devices, are not new.
export function observeEntry(context: RuleContext, { event, mailbox, look, subnet, ringKey }: Scene): void {
  const { type, website_account_id: id } = event.activity;
  const isNew = type === "signup" || context.account["device_is_new"] === true;
  for (const [group, shared] of [
    ["mailbox", mailbox],
    ["look", look],
    ["block", subnet],
  ] as const) {
    if (!shared) continue;
    shared.facts.first = Math.min(shared.facts.first, event.at);
    if (isNew && id !== undefined) addNew(shared, { at: event.at, account: ringHash(id, ringKey) });
    Object.assign(valuesToSet(context, group), newcomers(shared, event.at));
  }
}
