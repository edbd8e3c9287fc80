import type { StoredSession } from "../db/states.ts";
import { newSessionFacts, type SessionFacts } from "../detection/entity.ts";

export type Session = SessionFacts & { account: string | null; device: string | null };

export function sessionIn({ facts, website_account_id: account, device_id: device }: StoredSession): Session {
  // Only `toStored` makes this text, so its type is known.
  return { ...newSessionFacts(0), ...(JSON.parse(facts) as Partial<SessionFacts>), account, device };
}

export function toStored([session_id, { account, device, ...facts }]: [string, Session]): StoredSession {
  return {
    session_id,
    website_account_id: account,
    device_id: device,
    started_at: new Date(facts.started).toISOString(),
    last_at: new Date(facts.last).toISOString(),
    facts: JSON.stringify(Object.fromEntries(Object.entries(facts).filter(isUnusual))),
  };
}

// Most fields of a session keep their initial value, so those are not stored.
function isUnusual([, value]: [string, unknown]): boolean {
  return value !== 0 && value !== false && value !== null && !(Array.isArray(value) && value.length === 0);
}
