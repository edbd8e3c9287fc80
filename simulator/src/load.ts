import type { Activity } from "@casehound/client";
import { acceptLanguage, userAgentAt } from "./agents.ts";
import { countries } from "./countries.ts";
import type { BrowserRequest, ServerBatch } from "./delivery.ts";
import { newDevice } from "./device.ts";
import { cents } from "./errands.ts";
import { addressV4, Network, pickSite } from "./network.ts";
import { itemPage, items, listPage } from "./pages.ts";
import { Random } from "./random.ts";
import type { Client, SiteSettings } from "./sdk-request.ts";
import { newStorage, SdkSession, type Storage } from "./sdk.ts";

export type LoadOptions = {
  seed: string;
  startMs: number;
  eventsPerSecond: number;
  appKey: string;
  appId?: string;
  origin: string;
  // The number of different people who produce the load.
  users?: number;
  // The share of requests that come from the shop's servers.
  serverShare?: number;
  // Events per request.
  batch?: readonly [low: number, high: number];
};

type Shopper = { accountId: string; client: Client; storage: Storage };
type Caller = Pick<Activity, "website_account_id" | "session_id" | "device_id" | "ip" | "user_agent">;

const activityShares = { login_succeeded: 0.55, payment: 0.2, logout: 0.15, login_failed: 0.1 };
const recentMax = 512;

// Endless ordinary traffic at a given rate, to measure the service's capacity.
export function* loadTimeline(options: LoadOptions): Generator<BrowserRequest | ServerBatch> {
  const { startMs, eventsPerSecond, serverShare = 0.1, batch = [5, 20] } = options;
  const random = new Random(`${options.seed}/load`);
  const crowd = new Crowd(options);
  const recent: Caller[] = [];
  for (let events = 0, visits = 0; ;) {
    const at_ms = Math.round(startMs + (events * 1000) / eventsPerSecond);
    const count = random.whole(...batch);
    if (recent.length > 0 && random.chance(serverShare)) {
      yield {
        kind: "server",
        at_ms,
        activities: Array.from({ length: count }, () => newActivity(random, random.pick(recent), at_ms)),
      };
      events += count;
      continue;
    }
    const { request, caller } = crowd.visit(random, at_ms, count);
    recent[visits++ % recentMax] = caller;
    yield request;
    events += request.events;
  }
}

function newActivity(random: Random, caller: Caller, atMs: number): Activity {
  const type = random.pickShare(activityShares);
  const amount = type === "payment" ? { attributes: { amount: cents(random.logNormal(48, 0.8)), currency: "EUR" } } : {};
  return { activity_id: random.uuid(), type, occurred_at: new Date(atMs).toISOString(), ...caller, ...amount };
}

// A shopper is rebuilt from its number at each visit, so a million shoppers cost no memory.
class Crowd {
  readonly #seed: string;
  readonly #users: number;
  readonly #settings: SiteSettings;
  readonly #network = new Network();

  constructor({ seed, users = 100_000, appKey, appId = appKey, origin }: LoadOptions) {
    this.#seed = seed;
    this.#users = users;
    this.#settings = { appKey, appId, origin, sendIntervalMs: Number.POSITIVE_INFINITY };
  }

  #shopper(number: number, nowMs: number): Shopper {
    const random = new Random(`${this.#seed}/shopper-${number}`);
    const country = random.pickWeighted(countries, ({ customers }) => customers);
    const storage = newStorage(random, nowMs);
    const accountId = `c${random.hex(1)}${random.hex(1).slice(0, 2)}`;
    const device = newDevice(random, { number, kind: random.chance(0.6) ? "phone" : "desktop", country, nowMs });
    const client = {
      userAgent: userAgentAt(device.agent, nowMs),
      acceptLanguage: acceptLanguage(device.locale),
      locale: device.locale,
      zoneOffsetMs: country.zoneMinutes * 60_000,
      clockOffsetMs: 0,
      screen: device.agent.screen,
      viewport: device.agent.viewport,
      ip: addressV4(pickSite(random, this.#network.carriersOf(country, "home")), random.word()),
    };
    return { accountId, client, storage };
  }

  // The part of a visit that one request holds. Its last event is just before the request arrives.
  visit(random: Random, at_ms: number, count: number): { request: BrowserRequest; caller: Caller } {
    const { accountId, client, storage } = this.#shopper(random.whole(0, this.#users - 1), at_ms);
    let nowMs = at_ms - count * 1500;
    storage.user = { id: accountId, sinceMs: nowMs };
    const sent: BrowserRequest[] = [];
    const session = new SdkSession({ storage, client, settings: this.#settings, random }, nowMs, (request) => sent.push(request));
    while (session.pending < count) {
      nowMs = Math.min(at_ms, nowMs + random.logNormal(900, 0.9));
      const item = random.pick(items);
      if (random.chance(0.4)) session.open(random.chance(0.6) ? itemPage(item) : listPage(random), nowMs);
      else session.event(random.pick(["view_item", "view_gallery", "read_reviews"]), nowMs, {}, [item]);
    }
    session.send(at_ms);
    const [request] = sent;
    if (request === undefined) throw new Error("The SDK sent nothing");
    const caller = {
      website_account_id: accountId,
      session_id: session.id,
      device_id: storage.deviceId,
      ip: client.ip,
      user_agent: client.userAgent,
    };
    return { request: { ...request, at_ms }, caller };
  }
}
