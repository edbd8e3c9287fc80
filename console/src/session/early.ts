import { readSession, type Session } from "./session.ts";

// The session is asked for before anything else of the page is made. The ways in need none.
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
