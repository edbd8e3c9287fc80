import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RecordedActivity } from "../domain/activity.ts";
import { networkDatabases, writeMmdb } from "@casehound/simulator/mmdb";
import { addressV4, addressV6, Network } from "@casehound/simulator/network";
import { blockOf } from "../domain/address.ts";
import { keptIp, type IpPolicy } from "../detection/kept-ip.ts";
import { Enrichment } from "./enrichment.ts";

const received = "2026-11-15T09:30:00.000Z";

function activity(more: Partial<RecordedActivity>): RecordedActivity {
  return { activity_id: "a", type: "payment", origin: "server", occurred_at: received, received_at: received, ...more };
}

const bare = new Enrichment([]);
const network = new Network();
const databases = networkDatabases(network, Date.UTC(2026, 10, 1));
const berlin = network.sites.find(({ city, carrier }) => city.name === "Berlin" && carrier.hasV6);
if (!berlin) throw new Error("nobody in Berlin has IPv6");

test("blockOf: gives the /24 of an IPv4 address and the /48 of an IPv6 address, in one spelling", () => {
  expect(blockOf("192.0.2.77")).toBe("192.0.2.0/24");
  for (const [ip, block] of [
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:0DB8:0001:ffff::", "2001:db8:1::/48"],
    ["2001:db8::1", "2001:db8:0::/48"],
    ["2001:db8:0:1::", "2001:db8:0::/48"],
    ["2001::1", "2001:0:0::/48"],
    ["::1", "0:0:0::/48"],
    ["1::2:3:4:5:6:7", "1:0:2::/48"],
  ] as const) {
    expect(blockOf(ip), ip).toBe(block);
  }
});

test("blockOf: a block maps to itself, because truncated addresses are stored as blocks", () => {
  for (const ip of ["192.0.2.77", "2001:db8:1:2::9"]) expect(blockOf(blockOf(ip))).toBe(blockOf(ip));
});

test("keptIp: keeps an address whole, as its block, or as a hash that distinguishes addresses without revealing them", () => {
  const ip_key = Buffer.from("a tenant's key");
  const kept = (ip: string, ip_policy: IpPolicy["ip_policy"], key: Uint8Array = ip_key) => keptIp(ip, { ip_policy, ip_key: key });
  expect(kept("192.0.2.77", "full")).toBe("192.0.2.77");
  expect(kept("192.0.2.77", "truncate")).toBe("192.0.2.0/24");
  const hash = kept("192.0.2.77", "hash");
  expect(kept("192.0.2.77", "hash", Buffer.from("another tenant's key"))).not.toBe(hash);
  expect(hash).toMatch(/^h-[0-9a-f]{24}$/);
  expect(kept("192.0.2.77", "hash")).toBe(hash);
  expect(kept("192.0.2.78", "hash")).not.toBe(hash);
});

test("enrich: every address gets one spelling, and an IPv4-mapped IPv6 address becomes plain IPv4", () => {
  for (const [given, plain, net] of [
    ["192.0.2.77", "192.0.2.77", "192.0.2.0/24"],
    ["::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0/24"],
    ["::FFFF:C000:024D", "192.0.2.77", "192.0.2.0/24"],
    ["2001:DB8:0001:0:0:0:0:0009", "2001:db8:1::9", "2001:db8:1::/48"],
    ["fe80::1%eth0", "fe80::1", "fe80:0:0::/48"],
  ] as const) {
    const enriched = bare.enrich(activity({ ip: given }));
    expect([enriched.activity.ip, enriched.network]).toEqual([plain, net]);
  }
});

test("enrich: without databases, address and user agent, everything is unknown", () => {
  const given = activity({});
  const unknown = {
    country: "",
    asn: 0,
    lat: null,
    lon: null,
    network: "",
    browser: "",
    os: "",
    isBotAgent: false,
    isDisposableEmail: false,
    source: "server",
  };
  expect(bare.enrich(given)).toEqual({ ...unknown, activity: given, at: Date.parse(received), value: 0 });
  expect(bare.enrich(activity({ user_agent: "" }))).toMatchObject(unknown);
  expect(bare.files).toEqual([]);
});

test("enrich: country, network and place come from the first file that has them, for IPv4 and IPv6", () => {
  const { country, asn, city } = databases;
  const { carrier } = berlin;
  for (const ip of [addressV4(berlin, 5), `::ffff:${addressV4(berlin, 5)}`, addressV6(berlin, 3, 77)]) {
    expect(new Enrichment([country, asn]).enrich(activity({ ip }))).toMatchObject({ country: "DE", asn: carrier.asn, lat: null });
    expect(new Enrichment([asn, city]).enrich(activity({ ip }))).toMatchObject({
      country: "DE",
      asn: carrier.asn,
      network: `AS${carrier.asn}`,
      lat: 52.52,
      lon: 13.4,
    });
  }
  expect(new Enrichment([city]).enrich(activity({ ip: "192.0.2.1" }))).toMatchObject({ country: "", network: "192.0.2.0/24" });
});

test("enrich: an IPv4-only database is not used for IPv6 addresses", () => {
  const whole = writeMmdb("Country", [{ address: new Uint8Array(16), prefix: 1, value: { country: { iso_code: "DE" } } }], 0);
  const field = Buffer.from("ip_version");
  const at = whole.lastIndexOf(field) + field.length;
  // The control byte of a one-byte 16-bit number, then the IP version.
  const ipv4 = Buffer.concat([whole.subarray(0, at), Buffer.from([0xa1, 4]), whole.subarray(at + 2)]);
  const enrichment = new Enrichment([ipv4]);
  expect(enrichment.enrich(activity({ ip: "1.2.3.4" })).country).toBe("DE");
  expect(enrichment.enrich(activity({ ip: "2001:db8::1" })).country).toBe("");
});

type MmdbValue = Parameters<typeof writeMmdb>[1] extends Iterable<{ value: infer V }> ? V : never;

test("enrich: a country is two capital letters, in an object or by itself, and anything else is ignored", () => {
  const told: [MmdbValue, string][] = [
    [{ country: { iso_code: "DE" } }, "DE"],
    [{ country: "FR" }, "FR"],
    [{ country: "France" }, ""],
    [{ country: { iso_code: 7 } }, ""],
    ["DE", ""],
  ];
  for (const [value, country] of told) {
    const database = writeMmdb("Any", [{ address: new Uint8Array(16), prefix: 1, value }], 0);
    expect(new Enrichment([database]).enrich(activity({ ip: "1.2.3.4" })).country).toBe(country);
  }
});

test("open: reports each file's type and build time, and names a file that is not a database", () => {
  const folder = mkdtempSync(join(tmpdir(), "casehound-mmdb-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [good, bad] = [join(folder, "good.mmdb"), join(folder, "bad.mmdb")];
  writeFileSync(good, databases.country);
  writeFileSync(bad, "nothing of the kind");
  expect(Enrichment.open([good]).files).toEqual([{ type: "Simulated-Country", built_at: "2026-11-01T00:00:00.000Z" }]);
  expect(() => Enrichment.open([good, bad])).toThrow(`${bad} is not a MaxMind database`);
});

test("enrich: accepts a clock up to 10 minutes ahead; beyond that, the time of receipt is used", () => {
  for (const [occurred_at, at] of [
    ["2026-11-15T09:40:00.000Z", "2026-11-15T09:40:00.000Z"],
    ["2026-11-15T09:40:00.001Z", received],
    ["2019-01-01T00:00:00.000Z", "2019-01-01T00:00:00.000Z"],
  ] as const) {
    expect(new Date(bare.enrich(activity({ occurred_at })).at).toISOString()).toBe(at);
  }
});

test("enrich: the value is the first number among the attributes amount, value and _value, and is never negative", () => {
  const told: [Record<string, string | number | boolean>, number][] = [
    [{ value: 3, amount: 12.5 }, 12.5],
    [{ _value: 1, value: 3 }, 3],
    [{ amount: "12", _value: 4 }, 4],
    [{ amount: -5 }, 0],
    [{ amount: true, other: 5 }, 0],
    [{}, 0],
  ];
  for (const [attributes, value] of told) expect(bare.enrich(activity({ attributes })).value).toBe(value);
});

test("enrich: the member amount takes precedence over the attributes, and is never negative as a value", () => {
  const attributes = { amount: 12.5 };
  expect(bare.enrich(activity({ amount: 7, attributes })).value).toBe(7);
  expect(bare.enrich(activity({ amount: 0, attributes })).value).toBe(0);
  expect(bare.enrich(activity({ amount: -3, attributes })).value).toBe(0);
});

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const people = {
  "Chrome Windows": `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
  "Chrome macOS": `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
  "Chrome Linux": `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
  "Chrome Android": `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/131.0.0.0 Mobile Safari/537.36`,
  "Samsung Internet for Android Android": `Mozilla/5.0 (Linux; Android 13; SM-S911B) ${webkit} SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36`,
  "Microsoft Edge Windows": `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`,
  "Firefox Windows": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0",
  "Firefox Android": "Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0",
  "Safari macOS":
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
  "Safari iOS":
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Chrome iOS":
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
};

test("enrich: a native app that uses okhttp is not a bot", () => {
  expect(bare.enrich(activity({ user_agent: "ShopApp/4.2 (Android 14) okhttp/4.12.0" })).isBotAgent).toBe(false);
});

test.each(Object.entries(people))("enrich: %s is a person's browser", (name, user_agent) => {
  const { browser, os, isBotAgent } = bare.enrich(activity({ user_agent }));
  expect([`${browser} ${os}`, isBotAgent]).toEqual([name, false]);
});

test.each([
  `Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/131.0.0.0 Safari/537.36`,
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "python-requests/2.32.3",
  "Python/3.12 aiohttp/3.10.5",
  "curl/8.10.1",
  "Wget/1.24.5",
  "Go-http-client/2.0",
  "axios/1.7.9",
  "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
  "Java/17.0.2",
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36 Playwright/1.49`,
])("enrich: %s is a bot's user agent", (user_agent) => {
  expect(bare.enrich(activity({ user_agent })).isBotAgent).toBe(true);
});

test("enrich: a long browser name is truncated", () => {
  const { browser } = bare.enrich(activity({ user_agent: `${"x".repeat(1000)}/1.0 (y)` }));
  expect(browser).toBe("x".repeat(32));
});

test.each(["a@mailinator.com", "a@MAILINATOR.COM", "a@inbox.mailinator.com", "a@b@yopmail.com"])(
  "enrich: %s is disposable",
  (email) => {
    expect(bare.enrich(activity({ attributes: { email } })).isDisposableEmail).toBe(true);
  },
);

test.each([
  "a@gmail.com",
  "a@mailinator-fans.example",
  "a@mailinator.com.example",
  "mailinator.com@gmail.com",
  "a@com",
  "a@",
  "",
  7,
  `a@${"x.".repeat(400)}mailinator.com`,
])("enrich: %s is not a disposable e-mail address", (email) => {
  expect(bare.enrich(activity({ attributes: { email } })).isDisposableEmail).toBe(false);
});
