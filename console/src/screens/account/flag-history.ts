import type { Event } from "@casehound/client";
import type { Flag } from "../../changes/flags.ts";

export type FlagChange = { actor: string; at: string; isFromCreation: boolean };

// Who made a flag what it is, by the log, the latest entry first. An entry names what was sent, changed or not: so the earliest
// of those that agree counts. Null where the log as far as it is read does not tell.
export function changeOf(events: readonly Event[], flag: Flag, value: boolean): FlagChange | null {
  const naming = events.filter(({ data, type }) => type === "account.updated" && typeof data?.[flag] === "boolean");
  const other = naming.findIndex(({ data }) => data?.[flag] !== value);
  const made = (other === -1 ? naming : naming.slice(0, other)).at(-1);
  // Set from the start: sent again later, or never since.
  const created = events.find(({ type }) => type === "account.created");
  if (made) return { actor: made.actor, at: made.occurred_at, isFromCreation: false };
  return value && created ? { actor: created.actor, at: created.occurred_at, isFromCreation: true } : null;
}
