import { Type } from "typebox";

// Who told us of an activity, and so how much it is believed.
// server: the holder of a client secret. It is believed for everything.
// verified_session: a page whose user was confirmed, by a signed identity or by a server activity of the same session. It is
// believed for the behavior of that session on that account.
// page: anybody who knows the public app key. It is believed for facts about its own session, device and address.
// In rising order of belief.
export const sources = ["page", "verified_session", "server"] as const;
export type Source = (typeof sources)[number];

// For people.
export const sourceWords = {
  page: "claimed by a page",
  verified_session: "seen in a verified session",
  server: "reported by your server",
} as const satisfies Record<Source, string>;

export const SourceName = Type.Enum([...sources], {
  description:
    "Whose word it is: `server`, `verified_session` (a page whose user a signed identity or a server activity confirmed), or `page` (anybody).",
});
export const ClaimedAccount = Type.Optional(
  Type.String({ description: "The account that a page named: claimed, not verified. The activity counts for its source alone." }),
);

// Of a stored activity. Only what differs from its origin's usual source is stored.
export function storedSource(origin: string, stored: string | undefined): Source {
  if (origin === "server") return "server";
  return stored === "verified_session" ? "verified_session" : "page";
}

const dayMs = 24 * 60 * 60 * 1000;
const serverSilentDays = 30;

// Whether a tenant's servers still report what they last reported on that day. A tenant whose servers have been silent for longer
// has nothing but its pages.
export function isStillTold(day: string | null | undefined, now: string): boolean {
  return day !== null && day !== undefined && Date.parse(now) - Date.parse(day) < serverSilentDays * dayMs;
}
