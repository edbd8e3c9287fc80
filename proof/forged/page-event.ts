import { createHmac, hash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { stamp } from "@casehound/simulator/sdk";

// The two senders that the collector knows: our tag, and the unmodified Clickstream SDK.
export const shapes = ["tag", "sdk"] as const;
export type Shape = (typeof shapes)[number];
type Attributes = Record<string, string | number | boolean>;

export type PageEvent = {
  type: string;
  at: number;
  // Usually a string, but an attacker may send anything.
  account?: unknown;
  session?: string;
  device?: string;
  attributes?: Attributes;
  token?: unknown;
  id?: string;
  // The page reports that a program drives it. Only the tag's format has this member.
  isDriven?: boolean;
};

export type PageRequest = {
  events: PageEvent[];
  ip: string;
  agent: string;
  shape: Shape;
  // As the mobile SDKs send: base64 of gzip.
  isPacked?: boolean;
  // Without members that the service does not need, so that 2,000 events fit into one request.
  isLean?: boolean;
};

export const origin = "https://shop.example";
export const agents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0",
] as const;
export const strangeAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
export const botAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36";

export function sessionIdOf(device: string, at: number): string {
  return `${device.slice(-8)}-${stamp(at)}`;
}

const surroundings = {
  host_name: "shop.example",
  locale: "en-US",
  system_language: "en",
  country_code: "US",
  zone_offset: 0,
  platform: "Web",
  screen_height: 1080,
  screen_width: 1920,
  viewport_height: 900,
  viewport_width: 1900,
};
const senders: Record<Shape, object> = {
  tag: { sdk_name: "casehound-tag", sdk_version: "0.1.0" },
  sdk: { make: "Gecko", sdk_name: "aws-solution-clickstream-sdk", sdk_version: "0.12.6" },
};

// The SDK sends a token with every event only as an attribute of the event.
function ownAttributes({ isDriven, token }: PageEvent, shape: Shape): object {
  if (shape === "sdk") return token === undefined ? {} : { casehound_identity: token };
  return { _casehound_inputs: 0, _casehound_webdriver: isDriven === true };
}

function wireEvent(event: PageEvent, shape: Shape, isLean: boolean): object {
  const { type, at, account, session, device, attributes, token, id = randomUUID() } = event;
  const attribute = (value: unknown) => ({ value, set_timestamp: at });
  const user = {
    ...(account !== undefined && { _user_id: attribute(account) }),
    ...(token !== undefined && { casehound_identity: attribute(token) }),
  };
  const own = ownAttributes(event, shape);
  const named = session === undefined ? {} : { _session_id: session };
  if (isLean)
    return {
      event_type: type,
      event_id: id,
      device_id: device,
      timestamp: at,
      user,
      attributes: { ...own, ...named, ...attributes },
    };
  return {
    event_type: type,
    event_id: id,
    device_id: device,
    unique_id: device,
    timestamp: at,
    ...surroundings,
    ...senders[shape],
    user: { ...user, _user_first_touch_timestamp: attribute(at) },
    attributes: {
      ...own,
      ...attributes,
      ...named,
      _session_number: 1,
      _page_title: "Shop",
      _page_url: `${origin}/`,
      _latest_referrer: "",
    },
  };
}

// The body for `POST /collect/{app_key}`. It has no upload time, so that the events' own times are used.
export function wireRequest({ events, ip, agent, shape, isPacked = false, isLean = false }: PageRequest, appKey: string) {
  const json = JSON.stringify(events.map((event) => wireEvent(event, shape, isLean)));
  const body = isPacked ? gzipSync(json).toString("base64") : json;
  const query = new URLSearchParams({ platform: "Web", appId: appKey, hashCode: hash("sha256", body).slice(0, 8) });
  if (isPacked) query.set("compression", "gzip");
  return {
    path: `/collect/${appKey}?${query.toString()}`,
    body,
    headers: { origin, "user-agent": agent, "accept-language": "en-US,en;q=0.9", "x-forwarded-for": ip },
  };
}

// Signs a user as a shop's server would. `expires` is in seconds.
export function signIdentity(secret: string, account: string, expires: number | string): string {
  const signature = createHmac("sha256", secret).update(`casehound-identity:v1:${expires}:${account}`).digest("base64url");
  return `v1.${expires}.${signature}`;
}
