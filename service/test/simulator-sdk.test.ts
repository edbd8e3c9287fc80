import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { readEvent } from "../src/domain/clickstream.ts";
import type { BrowserRequest } from "@casehound/simulator/delivery";
import { simulate } from "@casehound/simulator/simulate";
import { stamp } from "@casehound/simulator/sdk";

const origin = "https://shop.example";
const all = simulate({
  seed: "sdk",
  startMs: Date.UTC(2026, 9, 5),
  days: 4,
  users: 60,
  attacks: {},
  appKey: "key",
  appId: "app",
  origin,
});
const requests: BrowserRequest[] = Iterator.from(all)
  .filter((delivery) => delivery.kind === "browser")
  .toArray();

type PageEvent = {
  event_id: string;
  event_type: string;
  timestamp: number;
  unique_id: string;
  user: { _user_id?: { value: string } };
  attributes: {
    _session_id: string;
    _session_start_timestamp: number;
    _session_duration: number;
    _engagement_time_msec?: number;
  };
};

// We know the format of what a simulated browser sends.
const eventsOf = ({ body }: BrowserRequest): PageEvent[] => JSON.parse(body) as PageEvent[];
const queryOf = ({ path }: BrowserRequest): URLSearchParams => new URL(path, origin).searchParams;

test("sdk: every request goes to the key's path, with the real SDK's query and hash", () => {
  const form =
    /^\/collect\/key\?platform=Web&appId=app&event_bundle_sequence_id=\d+&upload_timestamp=\d{13}&hashCode=([0-9a-f]{8})$/;
  const hashes = requests.map(({ body }) => createHash("sha256").update(body).digest("hex").slice(0, 8));
  expect(requests.map(({ path }) => form.exec(path)?.[1])).toEqual(hashes);
  expect(requests.map(({ events }) => events)).toEqual(requests.map((request) => eventsOf(request).length));
  const headers = new Set(requests.map((request) => Object.keys(request.headers).join(" ")));
  expect([...headers]).toEqual(["content-type user-agent accept-language origin referer x-forwarded-for"]);
  expect(requests.length).toBeGreaterThan(1000);
});

test("sdk: events have the SDK's members, in its order", () => {
  const members =
    "event_type event_id device_id unique_id app_id timestamp host_name locale system_language country_code zone_offset make platform screen_height screen_width viewport_height viewport_width sdk_name sdk_version user attributes";
  const attributes =
    "_session_id _session_start_timestamp _session_duration _session_number _page_title _page_url _latest_referrer";
  const events = requests.flatMap(eventsOf);
  const found = new Set(
    events.map((event) =>
      Object.keys(event)
        .filter((name) => name !== "items")
        .join(" "),
    ),
  );
  expect([...found]).toEqual([members]);
  expect(events.filter((event) => !Object.keys(event.attributes).join(" ").endsWith(attributes))).toEqual([]);
});

test("sdk: presets and the shop's own events come from browsers, and log-ins and payments from servers", () => {
  const types = new Set(requests.flatMap(eventsOf).map((event) => event.event_type));
  const presets = ["_first_open", "_session_start", "_page_view", "_user_engagement", "_scroll", "_search", "_profile_set"];
  expect([...types]).toEqual(expect.arrayContaining([...presets, "view_item", "add_to_cart"]));
  expect([...types].filter((type) => /login|purchase|payment/.test(type) && type !== "choose_payment")).toEqual([]);
});

test("sdk: a session's id consists of the browser's id and the start time", () => {
  const events = requests.flatMap(eventsOf).map(({ attributes }) => attributes);
  const wrong = events.filter(({ _session_id: id, _session_start_timestamp: started }) => id.slice(8) !== `-${stamp(started)}`);
  expect(wrong).toEqual([]);
  expect(events.filter(({ _session_duration: lasted }) => lasted < 0)).toEqual([]);
  expect(stamp(Date.UTC(2026, 10, 15, 0, 45, 42, 978))).toBe("20261115-004542978");
});

test("sdk: some clocks are hours off, some events are days late, and some requests are sent twice", () => {
  const skew = requests.map((request) => Math.abs(Number(queryOf(request).get("upload_timestamp")) - request.at_ms));
  expect(skew.filter((ms) => ms > 1_800_000).length / skew.length).toBeGreaterThan(0.002);
  expect(skew.filter((ms) => ms < 10_000).length / skew.length).toBeGreaterThan(0.9);
  const lateness = requests.flatMap((request) =>
    eventsOf(request).map(({ timestamp }) => Number(queryOf(request).get("upload_timestamp")) - timestamp),
  );
  expect(lateness.some((ms) => ms > 86_400_000)).toBe(true);
  expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
  const ids = requests.flatMap(eventsOf).map(({ event_id }) => event_id);
  const repeated = ids.length - new Set(ids).size;
  expect(repeated).toBeGreaterThan(0);
  expect(repeated / ids.length).toBeLessThan(0.02);
});

test("sdk: the collector keeps every event and flags nothing but clocks", () => {
  const tenant = { tenant_id: "t", slug: "shop", app_key: "key", url_parameters: [] };
  const signs = new Map<string, number>();
  let count = 0;
  for (const request of requests) {
    const delivery = {
      tenant,
      received_at: new Date(request.at_ms).toISOString(),
      uploaded_ms: Number(queryOf(request).get("upload_timestamp")),
      isHashWrong: false,
      checkIdentity: () => "bad-token" as const,
      ip: request.headers["x-forwarded-for"] ?? "",
      accept_language: request.headers["accept-language"] ?? "",
      agent: { user_agent: request.headers["user-agent"] ?? "" },
    };
    for (const event of eventsOf(request)) {
      const read = readEvent(event, delivery);
      if (typeof read === "string") throw new Error(`${read}: ${JSON.stringify(event)}`);
      for (const sign of read.browser?.signs ?? []) signs.set(sign, (signs.get(sign) ?? 0) + 1);
      count++;
    }
  }
  expect([...signs.keys()]).toEqual(["clock-shifted"]);
  expect((signs.get("clock-shifted") ?? 0) / count).toBeLessThan(0.1);
});
