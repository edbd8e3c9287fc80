import type { BrowserRequest } from "./delivery.ts";
import type { Item, Page } from "./pages.ts";
import type { Random } from "./random.ts";
import { browserMembers, browserRequest, type Client, type SiteSettings } from "./sdk-request.ts";
import { identityToken } from "./voice.ts";

export type Attributes = Record<string, string | number | boolean>;

// What the SDK keeps in a browser's local storage for one site.
export type Storage = {
  deviceId: string;
  uniqueId: string;
  firstTouchMs: number;
  isFirstOpen: boolean;
  sequence: number;
  session: { id: string; number: number; startMs: number; pausedMs: number } | null;
  // Who is logged in, and everybody who ever was. A second person on a device gets a separate unique id.
  user: { id: string; sinceMs: number } | null;
  owners: Map<string, { uniqueId: string; firstTouchMs: number }>;
  // Events that a closing page did not send. They go with the next visit's first request.
  unsent: string[];
  lastVisitMs: number;
};

export function newStorage(random: Random, nowMs: number): Storage {
  return {
    deviceId: random.uuid(),
    uniqueId: random.uuid(),
    firstTouchMs: nowMs,
    isFirstOpen: true,
    sequence: 0,
    session: null,
    user: null,
    owners: new Map(),
    unsent: [],
    lastVisitMs: nowMs,
  };
}

const unsentMax = 50;
// The SDK starts a new session after this much time in the background.
const sessionIdleMs = 30 * 60 * 1000;
// The attribute that carries the token.
const identityAttribute = "casehound_identity";
// A closing page sometimes keeps its last events, and a request whose response was lost is sent again.
const shareUnsent = 0.02;
const shareRepeated = 0.003;

type Post = (request: BrowserRequest) => void;

type SdkSessionOptions = {
  storage: Storage;
  client: Client;
  settings: SiteSettings;
  random: Random;
  // Whether the page sends only what the site reports, so weeks of history take few requests.
  isBrief?: boolean;
};

// One visit's page with the SDK in it. The times passed to it are true times, but it writes the device's own clock. Without a
// function to post with, it only maintains its storage, because rendering a month of unsent history would cost seconds.
export class SdkSession {
  readonly id: string;
  readonly #number: number;
  readonly #startMs: number;
  readonly #constant: Record<string, unknown>;
  readonly #storage: Storage;
  readonly #client: Client;
  readonly #settings: SiteSettings;
  readonly #random: Random;
  readonly #post: Post | null;
  readonly #isBrief: boolean;
  // Who is logged in to the site now. The storage may also name somebody whose log-in has expired.
  #loggedIn: string | null = null;
  #token: { accountId: string; text: string } | null = null;
  #page: Page = { path: "/", title: "" };
  #pageSinceMs = 0;
  #referrer: Page | null = null;
  #buffer: string[];
  #sendsAtMs = Number.POSITIVE_INFINITY;

  constructor({ storage, client, settings, random, isBrief = false }: SdkSessionOptions, startMs: number, post: Post | null) {
    const now = Math.round(startMs + client.clockOffsetMs);
    const last = storage.session;
    const isResumed = last !== null && now - last.pausedMs < sessionIdleMs;
    const fresh = { id: "", number: (last?.number ?? 0) + 1, startMs: now, pausedMs: now };
    const session = isResumed ? last : { ...fresh, id: `${storage.uniqueId.slice(-8)}-${stamp(now)}` };
    storage.session = session;
    storage.lastVisitMs = startMs;
    this.id = session.id;
    this.#number = session.number;
    this.#startMs = session.startMs;
    this.#storage = storage;
    this.#client = client;
    this.#settings = settings;
    this.#random = random;
    this.#post = post;
    this.#isBrief = isBrief;
    this.#buffer = storage.unsent;
    storage.unsent = [];
    this.#constant = browserMembers(client, settings);
    if (this.#buffer.length > 0) this.#sendsAtMs = startMs + settings.sendIntervalMs;
    if (storage.isFirstOpen) this.event("_first_open", startMs);
    storage.isFirstOpen = false;
    if (!isResumed) this.event("_session_start", startMs + random.between(2, 40));
  }

  open(page: Page, atMs: number): void {
    this.#referrer = this.#pageSinceMs === 0 ? null : this.#page;
    const sinceMs = this.#pageSinceMs;
    const engagedMs = sinceMs === 0 ? 0 : Math.round(atMs - sinceMs);
    this.#page = page;
    this.#pageSinceMs = atMs;
    this.#token = null;
    if (engagedMs > 1000) this.event("_user_engagement", atMs, { _engagement_time_msec: engagedMs });
    this.event("_page_view", atMs + 1, {
      _page_referrer: this.#referrer === null ? "" : `${this.#settings.origin}${this.#referrer.path}`,
      _page_referrer_title: this.#referrer?.title ?? "",
      _entrances: this.#referrer === null ? 1 : 0,
      ...(sinceMs === 0 ? {} : { _previous_timestamp: Math.round(sinceMs + this.#client.clockOffsetMs) }),
      ...(engagedMs > 0 ? { _engagement_time_msec: engagedMs } : {}),
    });
    const term = /\?q=(.+)$/.exec(page.path)?.[1];
    if (term !== undefined) this.event("_search", atMs + 1, { _search_key: "q", _search_term: term });
  }

  setUser(id: string | null, atMs: number): void {
    const storage = this.#storage;
    const now = Math.round(atMs + this.#client.clockOffsetMs);
    storage.user = id === null ? null : { id, sinceMs: now };
    this.#loggedIn = id;
    if (id !== null) {
      const mine = { uniqueId: storage.uniqueId, firstTouchMs: storage.firstTouchMs };
      const known =
        storage.owners.get(id) ?? (storage.owners.size === 0 ? mine : { uniqueId: this.#random.uuid(), firstTouchMs: atMs });
      storage.owners.set(id, known);
      storage.uniqueId = known.uniqueId;
      storage.firstTouchMs = known.firstTouchMs;
    }
    this.event("_profile_set", atMs);
  }

  // The site still recognizes the visitor from an earlier visit.
  stayLoggedIn(): void {
    this.#loggedIn = this.#storage.user?.id ?? null;
  }

  get isHeard(): boolean {
    return this.#post !== null;
  }

  event(type: string, atMs: number, attributes: Attributes = {}, items: readonly Item[] = []): void {
    if (!this.#isBrief) this.#write(type, atMs, { attributes, items, user: this.#storage.user });
  }

  // Records what a server would report if the site had a reporting server. It names the account that it is about, or none.
  report(type: string, atMs: number, { attributes, accountId }: { attributes: Attributes; accountId: string | null }): void {
    const { user } = this.#storage;
    const named = { id: accountId ?? "", sinceMs: Math.round(atMs + this.#client.clockOffsetMs) };
    const isUser = user !== null && user.id === accountId;
    const name = type.replace(/^custom:/, "");
    this.#write(name, atMs, { attributes, items: [], user: isUser ? user : accountId === null ? null : named });
  }

  #write(
    type: string,
    atMs: number,
    { attributes, items, user }: { attributes: Attributes; items: readonly Item[]; user: Storage["user"] },
  ): void {
    if (this.#post === null) return;
    if (this.#buffer.length > 0 && atMs >= this.#sendsAtMs) this.send(this.#sendsAtMs);
    if (this.#buffer.length === 0) this.#sendsAtMs = atMs + this.#settings.sendIntervalMs;
    const storage = this.#storage;
    const timestamp = Math.round(atMs + this.#client.clockOffsetMs);
    const touched = Math.round(storage.firstTouchMs + this.#client.clockOffsetMs);
    const event = {
      event_type: type,
      event_id: this.#random.uuid(),
      device_id: storage.deviceId,
      unique_id: storage.uniqueId,
      app_id: this.#settings.appId,
      timestamp,
      ...this.#constant,
      ...(items.length === 0 ? {} : { items: items.map((item) => ({ ...item, quantity: 1 })) }),
      user: {
        ...(user === null ? {} : { _user_id: { value: user.id, set_timestamp: user.sinceMs }, ...this.#vouch(user, atMs) }),
        _user_first_touch_timestamp: { value: touched, set_timestamp: touched },
      },
      attributes: {
        ...attributes,
        _session_id: this.id,
        _session_start_timestamp: this.#startMs,
        _session_duration: timestamp - this.#startMs,
        _session_number: this.#number,
        _page_title: this.#page.title,
        _page_url: `${this.#settings.origin}${this.#page.path}`,
        _latest_referrer: "",
      },
    };
    this.#buffer.push(JSON.stringify(event));
  }

  // The site's server vouches only for the account that is logged in, and signs once per page.
  #vouch({ id, sinceMs }: { id: string; sinceMs: number }, atMs: number): Record<string, unknown> {
    const { voice } = this.#settings;
    if (voice?.kind !== "signed" || id !== this.#loggedIn) return {};
    if (this.#token?.accountId !== id) this.#token = { accountId: id, text: identityToken(voice.secret, id, atMs) };
    return { [identityAttribute]: { value: this.#token.text, set_timestamp: sinceMs } };
  }

  close(atMs: number): void {
    const engagedMs = Math.round(atMs - this.#pageSinceMs);
    if (engagedMs > 1000) this.event("_user_engagement", atMs, { _engagement_time_msec: engagedMs });
    const storage = this.#storage;
    if (storage.session !== null) storage.session.pausedMs = Math.round(atMs + this.#client.clockOffsetMs);
    storage.lastVisitMs = atMs;
    if (this.#buffer.length <= unsentMax && this.#random.chance(shareUnsent)) storage.unsent = this.#buffer;
    else if (this.#buffer.length > 0) this.send(atMs);
    this.#buffer = [];
  }

  // Events waiting to be sent.
  get pending(): number {
    return this.#buffer.length;
  }

  send(atMs: number): void {
    const body = `[${this.#buffer.join(",")}]`;
    const events = this.#buffer.length;
    this.#buffer = [];
    this.#transmit(body, events, atMs);
    if (this.#random.chance(shareRepeated)) this.#transmit(body, events, atMs + this.#random.between(15_000, 60_000));
  }

  #transmit(body: string, events: number, atMs: number): void {
    const at_ms = Math.round(atMs + this.#random.logNormal(60, 0.6));
    const uploadMs = Math.round(atMs + this.#client.clockOffsetMs);
    const sequence = ++this.#storage.sequence;
    this.#post?.(browserRequest({ settings: this.#settings, client: this.#client, body, events, sequence, uploadMs, at_ms }));
  }
}

// YYYYMMDD-HHMMSSmmm in UTC, as at the end of a session id.
export function stamp(ms: number): string {
  const [day = "", time = ""] = new Date(ms).toISOString().split("T");
  return `${day.replaceAll("-", "")}-${time.replaceAll(/[:.Z]/g, "")}`;
}
