import type { Event } from "@casehound/client";
import type { Flag } from "../../changes/flags.ts";

export type FlagHistory =
  | { kind: "changed"; actor: string; at: string; isFromCreation: boolean }
  | { kind: "never" }
  // Before the oldest entry that was read.
  | { kind: "earlier" }
  // The entries do not tell: they are not there yet, or say nothing else than what was already so.
  | { kind: "untold" };

const never: FlagHistory = { kind: "never" };
const earlier: FlagHistory = { kind: "earlier" };
const untold: FlagHistory = { kind: "untold" };

// Who made a flag what it is, by the log as far as it was read, the latest entry first. An entry names what was sent, changed or
// not: so the earliest of those that agree counts, but only where what came before them was read too.
export function historyOf(events: readonly Event[], flag: Flag, value: boolean): FlagHistory {
  const naming = events.filter(({ data, type }) => type === "account.updated" && typeof data?.[flag] === "boolean");
  const other = naming.findIndex(({ data }) => data?.[flag] !== value);
  // The flag was changed a moment ago, and the log is still to be read again.
  if (other === 0) return untold;
  const made = (other === -1 ? naming : naming.slice(0, other)).at(-1);
  if (made && other > 0) return changeOf(made, false);
  // The oldest entry of all: nothing was before it.
  const created = events.find(({ type }) => type === "account.created");
  if (!created) return earlier;
  // Nobody ever sent the contrary. Whoever created the account may have set the flag with it; detection sets none.
  if (value) return made ? changeOf(made, false) : changeOf(created, true);
  return made === undefined || created.actor === "system" ? never : untold;
}

function changeOf({ actor, occurred_at: at }: Event, isFromCreation: boolean): FlagHistory {
  return { kind: "changed", actor, at, isFromCreation };
}
