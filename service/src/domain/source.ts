// Who told us of an activity, and so how much it is believed.
// server: the holder of a client secret. It is believed for everything.
// verified_session: a page whose user was confirmed, by a signed identity or by a server activity of the same session. It is
// believed for the behavior of that session on that account.
// page: anybody who knows the public app key. It is believed for facts about its own session, device and address.
export const sources = ["server", "verified_session", "page"] as const;
export type Source = (typeof sources)[number];
