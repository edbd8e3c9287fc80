import type { Continuity } from "./entity.ts";
import { minutes } from "./travel.ts";
import { shortKey } from "./habits.ts";
import type { EnrichedActivity } from "./scene.ts";
import type { RuleContext } from "./vector.ts";

const kinds = ["network", "country", "agent", "screen"] as const;

// Remembers the first values of the session, and when they first changed. Only servers and verified sessions count. Otherwise any
// page could make somebody else's session appear to change its network.
export function follow(before: Continuity | null, event: EnrichedActivity): Continuity | null {
  if (event.source === "page") return before;
  const { activity, network, country, at } = event;
  const now: Record<keyof Continuity, string> = {
    network,
    country,
    agent: activity.user_agent ?? "",
    screen: activity.browser?.screen ?? "",
  };
  let continuity = before;
  for (const kind of kinds) {
    if (now[kind] === "") continue;
    const value = shortKey(now[kind]);
    const known = continuity?.[kind];
    if (!known) continuity = { ...continuity, [kind]: [value] };
    else if (known[0] !== value && (known[1] === undefined || at < known[1]))
      continuity = { ...continuity, [kind]: [known[0], at] };
  }
  return continuity;
}

export function readContinuity(into: RuleContext["session"], continuity: Continuity | null, at: number): void {
  for (const kind of kinds) {
    const changed = continuity?.[kind]?.[1];
    if (changed === undefined) continue;
    into[`${kind}_changed`] = true;
    into[`minutes_since_${kind}_change`] = minutes(Math.max(at - changed, 0));
  }
}
