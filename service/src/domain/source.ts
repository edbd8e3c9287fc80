import { Type } from "typebox";

// Where an activity came from, which determines how far it is trusted.
// server: the holder of a client secret. It is trusted for everything.
// verified_session: a page whose user was confirmed, by a signed identity or by a server activity of the same session. It is
// trusted for the behaviour of that session on that account.
// page: anybody who knows the public app key. It is trusted for facts about its own session, device and address.
// In order of increasing trust.
export const sources = ["page", "verified_session", "server"] as const;
export type Source = (typeof sources)[number];

// The words shown to people.
export const sourceWords = {
  page: "claimed by a page",
  verified_session: "seen in a verified session",
  server: "reported by your server",
} as const satisfies Record<Source, string>;

export const SourceName = Type.Enum([...sources], {
  description:
    "Where it came from: `server`, `verified_session` (a page whose user was confirmed by a signed identity or a server activity), or `page` (anybody can send it).",
});
export const ClaimedAccount = Type.Optional(
  Type.String({
    description:
      "The account that a page named: claimed, not verified. The activity counts only for its device, session or address.",
  }),
);

// Returns the source of a stored activity. The source is stored only if it is not the usual one for the origin.
export function storedSource(origin: string, stored: string | undefined): Source {
  if (origin === "server") return "server";
  return stored === "verified_session" ? "verified_session" : "page";
}

const dayMs = 24 * 60 * 60 * 1000;
const serverSilentDays = 30;

// Whether a tenant's servers still report a kind of activity that they last reported on that day. A tenant whose servers have
// been silent for longer is treated as having only its pages.
export function isStillTold(day: string | null | undefined, now: string): boolean {
  return day !== null && day !== undefined && Date.parse(now) - Date.parse(day) < serverSilentDays * dayMs;
}
