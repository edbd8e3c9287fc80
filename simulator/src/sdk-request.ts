import { hash } from "node:crypto";
import type { BrowserRequest } from "./delivery.ts";
import type { Voice } from "./voice.ts";

// Where a site's browsers send their events. The interval is the SDK's batch interval. If `voice` is absent, the site's servers
// report.
export type SiteSettings = { appKey: string; appId: string; origin: string; sendIntervalMs: number; voice?: Voice };

// The browser around the SDK, as the page and the collector see it.
export type Client = {
  userAgent: string;
  acceptLanguage: string;
  locale: string;
  zoneOffsetMs: number;
  clockOffsetMs: number;
  screen: [number, number];
  viewport: [number, number];
  ip: string;
};

// In the SDK's order of members.
export function browserMembers(client: Client, { origin }: SiteSettings): Record<string, string | number> {
  const [language = "", region = ""] = client.locale.split("-");
  return {
    host_name: new URL(origin).hostname,
    locale: client.locale,
    system_language: language,
    country_code: region.toUpperCase(),
    zone_offset: client.zoneOffsetMs,
    make: "Gecko",
    platform: "Web",
    screen_height: client.screen[1],
    screen_width: client.screen[0],
    viewport_height: client.viewport[1],
    viewport_width: client.viewport[0],
    sdk_name: "aws-solution-clickstream-sdk",
    sdk_version: "0.12.6",
  };
}

type Upload = {
  settings: SiteSettings;
  client: Client;
  body: string;
  events: number;
  sequence: number;
  uploadMs: number;
  at_ms: number;
};

export function browserRequest({ settings, client, body, events, sequence, uploadMs, at_ms }: Upload): BrowserRequest {
  const query = `platform=Web&appId=${settings.appId}&event_bundle_sequence_id=${sequence}&upload_timestamp=${uploadMs}`;
  return {
    kind: "browser",
    at_ms,
    path: `/collect/${settings.appKey}?${query}&hashCode=${hash("sha256", body).slice(0, 8)}`,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "user-agent": client.userAgent,
      "accept-language": client.acceptLanguage,
      origin: settings.origin,
      referer: `${settings.origin}/`,
      "x-forwarded-for": client.ip,
    },
    body,
    events,
  };
}
