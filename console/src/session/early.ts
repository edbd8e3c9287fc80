import { readSession, type Session } from "./session.ts";

// Requests the session before anything else on the page. The sign-in pages need none.
let early: Promise<Session | null> | null = null;
if (!["/sign-in", "/link"].includes(location.pathname)) {
  early = readSession();
  early.catch(() => {});
}

export function takeSession(): Promise<Session | null> {
  const taken = early ?? readSession();
  early = null;
  return taken;
}
