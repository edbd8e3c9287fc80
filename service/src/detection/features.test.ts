import { expect, test } from "vitest";
import { SmallWorld, type Deed } from "../../test/small-world.ts";
import { fields, type Features } from "./catalogue.ts";
import { entryFields, misuseFields, paymentFields } from "./payment-catalogue.ts";

const hour = 60;
const day = 24 * hour;
const account = { website_account_id: "a" };
const session = { session_id: "s" };
type Story = { deeds: Deed[]; group: string; features: Features };

const clicks = Array.from({ length: 9 }, (_, index): Deed => ({
  // Alternating gaps of 1 s and 3 s: a mean of 2 s and a standard deviation of 1 s.
  minute: 2 + (Math.floor(index / 2) * 4000 + (index % 2) * 1000) / 60_000,
  type: "custom:click",
  origin: "browser",
  ...session,
}));

// Each story lists all features of one group after the story's last event. The values were calculated by hand.
const stories: Record<string, Story> = {
  "what the event itself says": {
    deeds: [
      {
        minute: 0,
        type: "signup",
        origin: "browser",
        value: 12.5,
        country: "DE",
        asn: 64_500,
        browser: "Chrome",
        os: "Windows",
        isBotAgent: true,
        isDisposableEmail: true,
        facts: { signs: ["wrong-hash", "locale-differs"] },
      },
    ],
    group: "event",
    features: {
      "event.type": "signup",
      "event.origin": "browser",
      "event.value": 12.5,
      "event.country": "DE",
      "event.asn": 64_500,
      "event.browser": "Chrome",
      "event.os": "Windows",
      "event.is_bot_agent": true,
      "event.email_is_disposable": true,
      "event.signs": 2,
      "event.source": "verified_session",
    },
  },
  "windows of an account: the last hour begins after 22:59:30, the last 10 minutes after 23:49:30": {
    deeds: [
      { minute: 0, type: "login_succeeded", ...account, device_id: "d1", ip: "i1", country: "DE" },
      { minute: hour, type: "login_failed", ...account, device_id: "d4", ip: "i5" },
      { minute: 23 * hour, type: "login_failed", ...account, device_id: "d2", ip: "i2", country: "FR" },
      { minute: 23 * hour + 45, type: "login_failed", ...account, device_id: "d2", ip: "i3" },
      { minute: 23 * hour + 54, type: "login_failed", ...account, device_id: "d3", ip: "i3", country: "PL" },
      { minute: 23 * hour + 56, type: "login_failed", ...account, ip: "i4" },
      { minute: day - 0.5, type: "page_view", ...account, device_id: "d1", ip: "i1", country: "DE" },
    ],
    group: "account",
    features: {
      "account.is_known": true,
      "account.age_minutes": day,
      "account.logins": 1,
      "account.events_1h": 5,
      "account.events_24h": 7,
      "account.failed_logins_10m": 2,
      "account.failed_logins_1h": 4,
      "account.failed_logins_24h": 5,
      "account.failed_ips_24h": 4,
      "account.devices_1h": 3,
      "account.devices_24h": 4,
      "account.ip_is_known": true,
      "account.ips_1h": 4,
      "account.ips_24h": 5,
      "account.countries_24h": 3,
    },
  },
  "an account's history, ten hours later": {
    deeds: [
      // A quarter of the way round the world, 10,008 km, in 10 hours.
      { minute: 0, type: "login_succeeded", ...account, device_id: "d1", country: "DE", asn: 64_500, lat: 0, lon: 0 },
      { minute: 1, type: "payment", ...account, value: 10 },
      { minute: 2, type: "payment", ...account, value: 40 },
      { minute: 3, type: "transfer", ...account, value: 20 },
      { minute: 4, type: "transfer", ...account, value: 1000 },
      { minute: 5, type: "fraud_report", ...account },
      { minute: 9 * hour + 15, type: "mfa_changed", ...account },
      {
        minute: 10 * hour,
        type: "transfer",
        ...account,
        device_id: "d2",
        country: "NG",
        asn: 64_501,
        lat: 0,
        lon: 90,
        value: 75,
        known: { is_blocked: true, is_quarantined: true, is_fraudulent: true, confirmed: 2, falsePositives: 3 },
      },
    ],
    group: "account",
    features: {
      "account.is_known": true,
      "account.age_minutes": 600,
      "account.is_blocked": true,
      "account.is_quarantined": true,
      "account.is_fraudulent": true,
      "account.logins": 1,
      "account.events_1h": 2,
      "account.events_24h": 8,
      "account.devices_1h": 1,
      "account.devices_24h": 2,
      "account.countries_24h": 2,
      "account.device_is_new": true,
      "account.country_is_new": true,
      "account.asn_is_new": true,
      "account.travel_kmh": 1001,
      "account.minutes_since_other_country": 600,
      "account.values": 4,
      // The median of 10, 20, 40 and 1,000 is 30.
      "account.value_ratio": 2.5,
      "account.minutes_since_sensitive_change": 45,
      "account.last_sensitive_change": "mfa_changed",
      "account.reports": 1,
      "account.confirmed_frauds": 2,
      "account.false_positives": 3,
    },
  },
  "windows of a device": {
    deeds: [
      { minute: 0, type: "signup", website_account_id: "a", device_id: "d", ip: "i1", country: "DE" },
      { minute: 23 * hour, type: "signup", website_account_id: "b", device_id: "d", ip: "i1", country: "FR" },
      { minute: 23 * hour + 30, type: "login_failed", website_account_id: "c", device_id: "d", ip: "i2" },
      { minute: 23 * hour + 52, type: "login_failed", website_account_id: "e", device_id: "d", ip: "i2" },
      { minute: 23 * hour + 53, type: "login_failed", website_account_id: "e", device_id: "d", ip: "i3" },
      { minute: day - 0.5, type: "page_view", website_account_id: "a", device_id: "d", known: { onDevice: 2 } },
    ],
    group: "device",
    features: {
      "device.is_known": true,
      "device.age_minutes": day,
      "device.accounts_10m": 2,
      "device.accounts_1h": 4,
      "device.accounts_24h": 4,
      "device.accounts_total": 2,
      "device.failed_logins_10m": 2,
      "device.failed_logins_1h": 3,
      "device.failed_accounts_1h": 2,
      "device.signups_1h": 1,
      "device.signups_24h": 2,
      "device.ips_1h": 3,
      "device.countries_24h": 2,
      "device.confirmed_frauds": 2,
      "device.confirmed_frauds_90d": 2,
      "device.fraud_share_90d": 1,
    },
  },
  "windows of an address": {
    deeds: [
      { minute: 0, type: "signup", website_account_id: "z", ip: "i", device_id: "d0" },
      { minute: 23 * hour, type: "signup", website_account_id: "a", ip: "i", device_id: "d1" },
      { minute: 23 * hour + 10, type: "login_succeeded", website_account_id: "b", ip: "i", device_id: "d2" },
      { minute: 23 * hour + 20, type: "login_failed", website_account_id: "c", ip: "i", device_id: "d2" },
      { minute: 23 * hour + 52, type: "login_failed", website_account_id: "e", ip: "i" },
      { minute: 23 * hour + 53, type: "login_failed", website_account_id: "e", ip: "i", device_id: "d3" },
      { minute: day - 0.5, type: "page_view", website_account_id: "f", ip: "i", device_id: "d3" },
    ],
    group: "ip",
    features: {
      "ip.accounts_10m": 2,
      "ip.accounts_1h": 5,
      "ip.devices_1h": 3,
      "ip.logins_1h": 1,
      "ip.login_accounts_1h": 1,
      "ip.failed_logins_10m": 2,
      "ip.failed_logins_1h": 3,
      "ip.failed_accounts_10m": 1,
      "ip.failed_accounts_1h": 2,
      "ip.signups_1h": 1,
      "ip.signups_24h": 2,
    },
  },
  "the sign-ups of an IPv6 block": {
    deeds: [
      { minute: 0, type: "signup", website_account_id: "a", ip: "2001:db8:1:1::1" },
      { minute: 1, type: "signup", website_account_id: "b", ip: "2001:db8:1:2::1" },
      { minute: 2, type: "signup", website_account_id: "c", ip: "2001:db8:2:1::1" },
      { minute: 60, type: "signup", website_account_id: "d", ip: "2001:db8:1:3::1" },
    ],
    group: "ip",
    features: { "ip.accounts_10m": 1, "ip.accounts_1h": 1, "ip.signups_1h": 1, "ip.signups_24h": 1, "ip.block_signups_1h": 2 },
  },
  "windows of a network, in which only log-ins count": {
    deeds: [
      { minute: 0, type: "login_failed", website_account_id: "z", ip: "i0", asn: 64_500 },
      { minute: 5, type: "login_failed", website_account_id: "a", ip: "i1", asn: 64_500 },
      { minute: 6, type: "login_failed", website_account_id: "a", ip: "i2", asn: 64_500 },
      { minute: 7, type: "login_succeeded", website_account_id: "b", ip: "i2", asn: 64_500 },
      { minute: 8, type: "payment", website_account_id: "b", ip: "i3", asn: 64_500 },
      { minute: 60, type: "login_failed", website_account_id: "c", ip: "i4", asn: 64_500 },
    ],
    group: "network",
    features: {
      "network.failed_accounts_1h": 2,
      "network.failed_logins_1h": 3,
      "network.logins_1h": 1,
      "network.login_accounts_1h": 1,
      "network.ips_1h": 3,
    },
  },
  "a session from a new device in a new country": {
    deeds: [
      { minute: -day, type: "login_succeeded", ...account, device_id: "d1", country: "DE" },
      { minute: 0, type: "page_view", origin: "browser", ...session, facts: { inputs: 3 } },
      { minute: 1, type: "login_succeeded", ...account, ...session, device_id: "d2", country: "NG" },
      ...clicks,
      { minute: 3, type: "custom:_scroll", origin: "browser", ...session, facts: { engagement_ms: 1400, is_webdriver: true } },
      { minute: 3, type: "custom:_user_engagement", origin: "browser", ...session, facts: { engagement_ms: 2200, inputs: 4 } },
      { minute: 4, type: "payee_added", website_account_id: "b", ...session },
      { minute: 5, type: "page_view", origin: "browser", ...session },
    ],
    group: "session",
    features: {
      "session.is_known": true,
      "session.has_browser": true,
      "session.age_seconds": 300,
      "session.events": 15,
      "session.pages": 2,
      "session.scrolls": 1,
      "session.engagement_seconds": 4,
      "session.gaps": 8,
      "session.gap_spread": 0.5,
      "session.gap_mean_ms": 2000,
      "session.seconds_to_login": 60,
      "session.accounts": 2,
      "session.sensitive_changes": 1,
      "session.is_webdriver": true,
      "session.has_inputs": true,
      "session.inputs": 7,
      "session.began_on_new_device": true,
      "session.began_in_new_country": true,
    },
  },
  "the ratio of a session's log-in stands for what follows in it": {
    deeds: [
      ...[0, 1, 2, 3].map((minute): Deed => ({ minute, type: "login_succeeded", ...account, device_id: "d1" })),
      { minute: day, type: "login_succeeded", ...account, ...session, device_id: "d2" },
      { minute: day + 1, type: "payment", ...account, ...session },
    ],
    group: "login",
    // The logarithm of 5: four log-ins on another device, plus one for the share of everybody's log-ins.
    features: { "login.ratio": 1.61, "login.history": 4 },
  },
  "whether the tenant's pages send anything": {
    deeds: [{ minute: 0, type: "payment", known: { tenantHasBrowser: true } }],
    group: "tenant",
    features: { "tenant.has_browser": true },
  },
};

test.each(Object.entries(stories))("features: %s", (_, { deeds, group, features }) => {
  const seen = Object.entries(new SmallWorld().seeAll(deeds)).filter(([name]) => name.startsWith(`${group}.`));
  expect(Object.fromEntries(seen)).toEqual(features);
});

test("features: every field of the catalogue appears in a story, and no other field does", () => {
  const told = new Set(Object.values(stories).flatMap(({ features }) => Object.keys(features)));
  // Those of payments and of what accounts share are in features-payments.test.ts and misuse.test.ts.
  const elsewhere = new Set([...paymentFields, ...entryFields, ...misuseFields].filter(({ name }) => !told.has(name)));
  const scalars = fields.filter((field) => field.type !== "map" && !elsewhere.has(field)).map(({ name }) => name);
  expect([...told].toSorted()).toEqual(scalars.toSorted());
});

const typeOf = (value: unknown) => (typeof value === "object" ? "map" : typeof value);

test("features: only fields of the catalogue are set, each with its own type", () => {
  const types = new Map(fields.map(({ name, type }) => [name, type]));
  for (const { deeds } of Object.values(stories)) {
    const world = new SmallWorld();
    const wrong = deeds.flatMap((deed) =>
      Object.entries(world.see(deed).context).flatMap(([group, values]) =>
        Object.entries(values)
          .map(([key, value]) => [`${group}.${key}`, typeOf(value)] as const)
          .filter(([name, type]) => types.get(name) !== type),
      ),
    );
    expect(wrong).toEqual([]);
  }
});

test("features: an activity that names nothing sets only its own type and origin", () => {
  expect(new SmallWorld().seeAll([{ minute: 0, type: "page_view" }])).toEqual({
    "event.type": "page_view",
    "event.origin": "server",
  });
});
