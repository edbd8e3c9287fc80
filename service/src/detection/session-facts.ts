import { sessionIdleMs, type BrowserFacts } from "../domain/activity.ts";
import { follow } from "./continuity.ts";
import type { SessionFacts } from "./entity.ts";
import { ringHash } from "./ring-hash.ts";
import { isSensitive, type EnrichedActivity } from "./scene.ts";

const timesMax = 32;
// Events that a page records this close together are one action of its user.
const sameActionMs = 50;
const sessionAccountsMax = 16;

// Adds an activity to what is known about its session.
export function updateSession(session: SessionFacts, event: EnrichedActivity, ringKey: string): void {
  const { activity, at } = event;
  const { type, browser, origin } = activity;
  session.continuity = follow(session.continuity, event);
  session.started = Math.min(session.started, beginningBy(event));
  session.last = Math.max(session.last, at);
  session.events++;
  session.hasBrowser ||= origin === "browser";
  session.client ??= browser ? clientOf(browser) : null;
  if (type === "page_view") session.pages++;
  if (type === "custom:_scroll") session.scrolls++;
  if (isSensitive(type)) session.sensitive++;
  session.engagement += browser?.engagement_ms ?? 0;
  session.isWebdriver ||= browser?.is_webdriver === true;
  if (browser?.inputs !== undefined) session.inputs = (session.inputs ?? 0) + browser.inputs;
  // A page's automatic events fire together when it loads. Only the events that the site itself records show a person's rhythm.
  if (origin === "browser" && type !== "page_view" && !type.startsWith("custom:_")) {
    if (session.times.length === 0) session.origin = at;
    const time = at - session.origin;
    if (session.times.every((other) => Math.abs(other - time) >= sameActionMs)) session.times.push(time);
    session.times.sort((a, b) => a - b);
    if (session.times.length > timesMax) session.times.shift();
  }
  const named = activity.website_account_id ?? event.claimed;
  const account = named === undefined ? 0 : ringHash(named, ringKey);
  if (account !== 0 && !session.accounts.includes(account) && session.accounts.length < sessionAccountsMax)
    session.accounts.push(account);
}

// A page names the times of its events, and an old one must not make a session that goes on look long past. So it moves the
// beginning of a known session at most this far back from the time of receipt.
function beginningBy({ activity, at }: EnrichedActivity): number {
  return activity.origin === "browser" ? Math.max(at, Date.parse(activity.received_at) - sessionIdleMs) : at;
}

function clientOf(facts: BrowserFacts): SessionFacts["client"] {
  const {
    page_title: _title,
    page_url: _url,
    engagement_ms: _ms,
    inputs: _in,
    input_spread: _spread,
    is_webdriver: _driver,
    signs: _signs,
    // Only compared with other facts. A mismatch is recorded as a sign.
    accept_language: _language,
    ...client
  } = facts;
  return client;
}
