import type { Ground } from "./ground.ts";
import { signIdentity } from "./page-event.ts";

// What an attacker may send in place of the page's account. Some are not names, and some look like the victim's.
export function oddIds(victim: string): unknown[] {
  return [
    "UNKNOWN",
    "unknown",
    "erased-00000000-0000-4000-8000-000000000000",
    "__proto__",
    "constructor",
    "\0",
    "\uD800",
    ` ${victim}`,
    `${victim}\u200B`,
    victim.toUpperCase(),
    `account:${victim}`,
    `device:${victim}`,
    "x".repeat(512),
    "x".repeat(513),
    42,
    -0.5,
    true,
    { value: victim },
    [victim],
    "'; drop table accounts; --",
    "%00",
    "../../enduseraccounts",
    "e\u0301",
    "🦊".repeat(200),
  ];
}

const hour = 3600;

type Names = { victim: string; own: string; other: string };

// Tokens that are not valid for the victim. In a world without signed identity, all of them are just text.
export function oddTokens(ground: Ground, { victim, own, other }: Names): unknown[] {
  const now = Math.floor(Date.now() / 1000);
  const good = ground.world === "signed" ? ground.tokenFor(victim) : signIdentity("guessed", victim, now + 600);
  const [, expires = "", signature = ""] = good.split(".");
  const ownToken = ground.world === "signed" ? ground.tokenFor(own) : signIdentity("guessed", own, now + 600);
  const expired = ground.world === "signed" ? ground.tokenFor(victim, now - hour) : signIdentity("guessed", victim, now - hour);
  const tooLong = ground.world === "signed" ? ground.tokenFor(victim, now + 1000 * hour) : "";
  return [
    ownToken,
    // Expired for longer than the clock tolerance.
    expired,
    tooLong,
    // Signed with what the attacker knows.
    signIdentity("", victim, now + 600),
    signIdentity(ground.tenant.app_key, victim, now + 600),
    signIdentity(ground.tenant.tenant, victim, now + 600),
    signIdentity(other, victim, now + 600),
    // A valid signature for another expiry.
    `v1.${Number(expires) + 1}.${signature}`,
    `v1.${expires}.0.${signature}`,
    `v2.${expires}.${signature}`,
    `v1.${expires}.`,
    `v1.${expires}`,
    `v1.${expires}.${signature.slice(0, -1)}`,
    `v1.${expires}.${signature.slice(0, 8)}`,
    `v1.NaN.${signature}`,
    `v1.Infinity.${signature}`,
    "",
    "v1",
    {},
    [],
    true,
    1,
    "x".repeat(100_000),
  ];
}
