import type { Event } from "@casehound/client";
import type { Flag } from "../../changes/flags.ts";

export type FlagHistory =
  | { kind: "changed"; actor: string; at: string; isFromCreation: boolean }
  | { kind: "never" }
  // Changed before the oldest entry that was read.
  | { kind: "earlier" }
  // The entries do not say: either they have not been read yet, or they only repeat the value.
  | { kind: "unknown" };

const never: FlagHistory = { kind: "never" };
const earlier: FlagHistory = { kind: "earlier" };
const unknown: FlagHistory = { kind: "unknown" };

// Finds who gave a flag its value, in the log as far as it was read, latest entry first. An entry names every flag that was sent,
// changed or not. So the earliest of the agreeing entries counts, but only if the entry before them was read too.
export function historyOf(events: readonly Event[], flag: Flag, value: boolean): FlagHistory {
  const naming = events.filter(({ data, type }) => type === "account.updated" && typeof data?.[flag] === "boolean");
  const other = naming.findIndex(({ data }) => data?.[flag] !== value);
  // The flag has just changed, and the log has not been read again yet.
  if (other === 0) return unknown;
  const made = (other === -1 ? naming : naming.slice(0, other)).at(-1);
  if (made && other > 0) return changeOf(made, false);
  // `account.created` is the oldest entry of all.
  const created = events.find(({ type }) => type === "account.created");
  if (!created) return earlier;
  // No entry has the opposite value. The creator of the account may have set the flag with it; detection sets none.
  if (value) return made ? changeOf(made, false) : changeOf(created, true);
  return made === undefined || created.actor === "system" ? never : unknown;
}

function changeOf({ actor, occurred_at: at }: Event, isFromCreation: boolean): FlagHistory {
  return { kind: "changed", actor, at, isFromCreation };
}
