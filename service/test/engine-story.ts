import type { RecordedActivity } from "../src/domain/activity.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import { writeMmdb } from "@casehound/simulator/mmdb";
import { Random } from "@casehound/simulator/random";
import { iso, labNowMs, type Sketched } from "./engine-lab.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

type Land = { first: number; country: string; asn: number; latitude: number; longitude: number };

// Addresses 10.0.*.*, 10.1.*.* and 10.2.*.* are in three countries. All others are unknown.
const lands: Land[] = [
  { first: 0, country: "DE", asn: 65_001, latitude: 52, longitude: 13 },
  { first: 1, country: "FR", asn: 65_002, latitude: 48, longitude: 2 },
  { first: 2, country: "BR", asn: 65_003, latitude: -23, longitude: -46 },
];

export function countryOf(ip: string | undefined): string {
  return lands.find(({ first }) => ip?.startsWith(`10.${first}.`))?.country ?? "";
}

export function networkOf(ip: string): string {
  const land = lands.find(({ first }) => ip.startsWith(`10.${first}.`));
  return land ? `AS${land.asn}` : `${ip.split(".").slice(0, 3).join(".")}.0/24`;
}

export function landEnrichment(): Enrichment {
  const networks = lands.map(({ first, country, asn, latitude, longitude }) => {
    const address = new Uint8Array(16);
    address.set([10, first], 12);
    const value = { country: { iso_code: country }, autonomous_system_number: asn, location: { latitude, longitude } };
    return { address, prefix: 112, value };
  });
  return new Enrichment([writeMmdb("Lands", networks, labNowMs)]);
}

const agents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15",
];

type Event = Sketched & { at: number };

function visit(random: Random, account: string, start: number): Event[] {
  const visitOf = `${account}-${Math.floor(start / minuteMs)}`;
  const common = {
    website_account_id: account,
    session_id: `s-${visitOf}`,
    device_id: `d-${account}`,
    ip: `10.${random.whole(0, 1)}.0.${random.whole(1, 40)}`,
    user_agent: random.pick(agents),
  };
  const events: Event[] = [{ type: "login_succeeded", at: start, ...common }];
  if (random.chance(0.2)) events.unshift({ type: "login_failed", at: start - 5_000, ...common });
  for (let at = start + 10_000; random.chance(0.6); at += random.whole(2_000, 90_000)) {
    const type = random.pick(["page_view", "custom:add_to_cart", "custom:_scroll"]);
    events.push({ type, at, ...common, origin: "browser", browser: { engagement_ms: random.whole(0, 9_000) } });
  }
  if (random.chance(0.3))
    events.push({ type: "payment", at: start + hourMs / 10, ...common, attributes: { amount: random.whole(5, 90) } });
  if (random.chance(0.05))
    events.push({ type: "fraud_report", at: start + hourMs / 5, website_account_id: account, attributes: { label: "Bot" } });
  return events;
}

const attacks: ((random: Random, start: number) => Event[])[] = [
  // Credential stuffing from one device, and from one address with a new device each time.
  (random, start) =>
    numbered(14, (n) => ({
      type: "login_failed",
      at: start + n * 20_000,
      website_account_id: `u-${random.whole(0, 60)}`,
      device_id: "d-stuff",
      ip: "10.2.9.1",
    })),
  (_random, start) =>
    numbered(12, (n) => ({
      type: "login_failed",
      at: start + n * 30_000,
      website_account_id: `u-${n}`,
      device_id: `d-fresh-${n}`,
      ip: "10.2.9.2",
    })),
  // Slow guessing, then a successful log-in and a transfer.
  (_random, start) => [
    ...numbered(6, (n): Event => ({
      type: "login_failed",
      at: start + n * hourMs,
      website_account_id: "u-7",
      ip: `10.1.8.${n}`,
    })),
    ...numbered(11, (n): Event => ({
      type: "login_failed",
      at: start + 7 * hourMs + n * 9_000,
      website_account_id: "u-7",
      device_id: "d-thief",
      ip: "10.2.7.7",
    })),
    {
      type: "login_succeeded",
      at: start + 7 * hourMs + 2 * minuteMs,
      website_account_id: "u-7",
      device_id: "d-thief",
      ip: "10.2.7.7",
      session_id: "s-thief",
    },
    {
      type: "password_changed",
      at: start + 7 * hourMs + 3 * minuteMs,
      website_account_id: "u-7",
      device_id: "d-thief",
      ip: "10.2.7.7",
      session_id: "s-thief",
    },
    {
      type: "transfer",
      at: start + 7 * hourMs + 4 * minuteMs,
      website_account_id: "u-7",
      device_id: "d-thief",
      ip: "10.2.7.7",
      session_id: "s-thief",
      attributes: { amount: 5_000 },
    },
  ],
  // Password spraying from one network.
  (_random, start) =>
    numbered(30, (n) => ({
      type: "login_failed",
      at: start + n * 60_000,
      website_account_id: `u-${n}`,
      ip: `172.16.5.${n % 9}`,
    })),
  // A sign-up farm.
  (_random, start) =>
    numbered(9, (n) => ({
      type: "signup",
      at: start + n * 40_000,
      website_account_id: `farm-${n}`,
      device_id: "d-farm",
      ip: "10.0.6.6",
      attributes: { email: `x${n}@mailinator.com` },
    })),
  // A script that clicks at exact intervals, and one that identifies itself.
  (_random, start) =>
    numbered(14, (n) => ({
      type: "custom:click",
      at: start + n * 500,
      origin: "browser",
      website_account_id: "u-robot",
      session_id: "s-robot",
      device_id: "d-robot",
    })),
  (_random, start) =>
    numbered(4, (n) => ({
      type: "login_succeeded",
      at: start + n * 7_000,
      website_account_id: `u-curl-${n}`,
      user_agent: "curl/8.5.0",
      session_id: "s-curl",
    })),
];

function numbered(count: number, make: (n: number) => Event): Event[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

// A day in a shop, with attacks. Activity recorded within a minute is received in any order, and a tenth is up to three hours
// late.
export function tellStory(seed: string, visits: number): RecordedActivity[] {
  const random = new Random(seed);
  const begin = labNowMs - 20 * hourMs;
  const everyday = Array.from({ length: visits }, () =>
    visit(random, `u-${random.whole(0, 60)}`, begin + random.whole(0, 19 * hourMs)),
  );
  const events = [...everyday.flat(), ...attacks.flatMap((attack) => attack(random, begin + random.whole(0, 9 * hourMs)))];
  const delayed = events.map((event) => ({
    event,
    delay: random.chance(0.1) ? random.whole(0, 3 * hourMs) : random.whole(0, minuteMs),
  }));
  const arrived = delayed.toSorted((a, b) => a.event.at + a.delay - b.event.at - b.delay);
  return arrived.map(({ event: { at, ...more } }, index) => ({
    activity_id: `${seed}-${index}`,
    origin: "server",
    received_at: iso(labNowMs + index),
    occurred_at: iso(at),
    ...more,
  }));
}
