import type { CrowdedSource } from "../detection/crowd.ts";
import { addTie, tieKey, type DeviceFacts, type SessionFacts } from "../detection/entity.ts";
import { isTie, type EnrichedActivity } from "../detection/scene.ts";
import { sessionIdleMs, type RecordedActivity } from "../domain/activity.ts";

// How far the tenant's pages are trusted.
export type Trust = {
  // Only a signature confirms a page's user.
  isSignatureRequired: boolean;
  // Verification is off and no server reports accounts, so a page's claim about an account counts: there is no better source.
  isSnippetOnly: boolean;
};

export type Known = {
  session: (event: EnrichedActivity) => SessionFacts | null;
  device: (event: EnrichedActivity) => DeviceFacts | null;
  crowdAround: (event: EnrichedActivity, isClaimHeard: boolean) => CrowdedSource | null;
  isSpokenFor: (account: string) => boolean;
};

const deviceTiesMax = 8;
// A page's first events may arrive this much later than the log-in that its server reports.
const delayMs = 2 * 60 * 1000;

// Records which accounts servers and signatures confirm in a batch. It runs before any event of the batch is judged, so a tie
// counts for the whole session, in whatever order its events arrived.
export function noteTies(events: EnrichedActivity[], known: Known): void {
  for (const event of events) {
    const { activity } = event;
    const session = known.session(event);
    if (activity.origin === "browser" && session) {
      const receivedMs = Date.parse(activity.received_at);
      session.heard = session.heard === 0 ? receivedMs : Math.min(session.heard, receivedMs);
    }
    const { website_account_id: account } = activity;
    if (account === undefined) continue;
    if (isSigned(activity) && session) addTie(session.signed, tieKey(account));
    if (!isTie(activity)) continue;
    if (session) addTie(session.ties, tieKey(account));
    const device = known.device(event);
    if (device) addDeviceTie(device, tieKey(account), event.at);
  }
}

// Returns the event with its source.
export function sourced(event: EnrichedActivity, known: Known, trust: Trust): EnrichedActivity {
  const { origin, website_account_id: account } = event.activity;
  if (origin === "server" || account === undefined || !isVouched(event, account, known, trust)) return event;
  return { ...event, source: "verified_session" };
}

// Returns an unverified page's event, with its account only if it counts for that account.
export function claimOnly(event: EnrichedActivity, known: Known, trust: Trust): EnrichedActivity {
  const { website_account_id: account, ...rest } = event.activity;
  const isHeard = account !== undefined && trust.isSnippetOnly && !known.isSpokenFor(account);
  const crowd = known.crowdAround(event, isHeard);
  const said = crowd === null ? event : { ...event, crowd };
  if (account === undefined) return said;
  const session = known.session(event);
  if (session) addTie(session.claims, tieKey(account));
  return isHeard && crowd === null ? { ...said, claimed: account } : { ...said, claimed: account, activity: rest };
}

function isSigned({ origin, identity }: RecordedActivity): boolean {
  return origin === "browser" && identity === "signed";
}

function isVouched(event: EnrichedActivity, account: string, known: Known, trust: Trust): boolean {
  if (isSigned(event.activity)) return true;
  const session = known.session(event);
  if (!session) return false;
  const key = tieKey(account);
  if (session.signed.includes(key)) return true;
  if (trust.isSignatureRequired) return false;
  return session.ties.includes(key) || isTiedByDevice(session, known.device(event), key);
}

// A server may know the page's device but not its session. Then it vouches for the session that was open on that device when the
// account signed in.
function isTiedByDevice(session: SessionFacts, device: DeviceFacts | null, key: string): boolean {
  return (device?.ties ?? []).some(
    ([account, at]) =>
      account === key && session.heard - delayMs <= at && at <= Math.max(session.last, session.heard) + sessionIdleMs,
  );
}

function addDeviceTie(device: DeviceFacts, key: string, at: number): void {
  const others = (device.ties ?? []).filter(([account]) => account !== key);
  const before = device.ties?.find(([account]) => account === key)?.[1] ?? at;
  device.ties = [...others, [key, Math.max(before, at)] as [string, number]].slice(-deviceTiesMax);
}
