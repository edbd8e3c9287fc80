import { expect, test } from "vitest";
import { SmallWorld, type Deed } from "../../test/small-world.ts";
import { ringSize } from "./catalogue.ts";

const hour = 60;
const day = 24 * hour;
const account = { website_account_id: "a" };

const login = (minute: number, more: Partial<Deed> = {}): Deed => ({ minute, type: "login_succeeded", ...account, ...more });
const failure = (minute: number, more: Partial<Deed> = {}): Deed => ({ minute, type: "login_failed", ...account, ...more });
const pay = (minute: number, value: number): Deed => ({ minute, type: "payment", ...account, value });

function lastOf(deeds: Deed[], name: string): unknown {
  return new SmallWorld().seeAll(deeds)[name];
}

test("habits: nothing is new to an account that never logged in, or whose log-ins had no such values", () => {
  const source = { device_id: "d1", country: "DE", asn: 64_500 };
  const first = new SmallWorld().seeAll([login(0, source)]);
  const unknown = new SmallWorld().seeAll([login(0), login(1, source)]);
  for (const vector of [first, unknown]) {
    expect(Object.keys(vector).filter((name) => name.endsWith("_is_new"))).toEqual([]);
  }
});

test("habits: nothing is learned from a failed log-in", () => {
  const strange = { device_id: "d2", country: "NG", asn: 64_501 };
  const known = { device_id: "d1", country: "DE", asn: 64_500 };
  const vector = new SmallWorld().seeAll([login(0, known), failure(1, strange), failure(2, strange), login(3, strange)]);
  expect(vector).toMatchObject({
    "account.logins": 1,
    "account.device_is_new": true,
    "account.country_is_new": true,
    "account.asn_is_new": true,
  });
});

test("habits: an address block that stands for an unknown network does not count as a known network", () => {
  const before = [login(0, { ip: "192.0.2.1" }), login(1, { ip: "198.51.100.1" })];
  expect(lastOf([...before, login(2, { ip: "192.0.2.1", asn: 64_500 })], "account.asn_is_new")).toBeUndefined();
  expect(lastOf([...before, login(2, { asn: 64_500 }), login(3, { asn: 64_501 })], "account.asn_is_new")).toBe(true);
});

test("habits: an account keeps its 12 most common devices, and the newest replaces the rarest", () => {
  const often = Array.from({ length: 24 }, (_, index) => login(index, { device_id: `d${index % 12}` }));
  const world = new SmallWorld();
  const isNew = (device_id: string) =>
    world.seeAll([{ minute: 3 * day, type: "page_view", ...account, device_id }])["account.device_is_new"];
  world.seeAll([...often, login(30, { device_id: "x" })]);
  expect(["x", "d11"].map(isNew)).toEqual([undefined, undefined]);
  world.see(login(31, { device_id: "y" }));
  expect(["x", "y", "d11"].map(isNew)).toEqual([true, undefined, undefined]);
});

test("habits: a user agent called constructor is counted like any other", () => {
  const odd = { browser: "constructor", os: "Linux", user_agent: "constructor/1.0 x" };
  const world = new SmallWorld();
  for (let minute = 0; minute < 6; minute++) {
    const { ratio } = world.see(login(minute, odd));
    expect([ratio?.total, ...(ratio?.parts ?? []).map(([, part]) => part)].every(Number.isFinite)).toBe(true);
  }
});

test("habits: if servers report log-ins, a page's log-ins are not learned, so a stranger's device does not become known", () => {
  const world = new SmallWorld();
  world.seeAll([login(0, { device_id: "d1", country: "DE" }), login(1, { device_id: "d1", country: "DE" })]);
  const strange = { device_id: "d2", country: "NG" };
  for (let minute = 2; minute < 12; minute++) world.see(login(minute, { ...strange, origin: "browser" }));
  const real = world.seeAll([login(day, strange)]);
  expect(real).toMatchObject({ "account.logins": 2, "account.device_is_new": true, "account.country_is_new": true });
});

test("habits: a failed log-in that both a server and a page report counts once", () => {
  const told = [1, 2, 3].flatMap((minute) => [failure(minute), failure(minute + 0.01, { origin: "browser" })]);
  expect(lastOf([login(0, { device_id: "d1" }), ...told], "account.failed_logins_1h")).toBe(3);
});

test("habits: if only pages report log-ins, they count", () => {
  const told = { origin: "browser" as const, device_id: "d1", session_id: "s1" };
  const vector = new SmallWorld().seeAll([login(0, told), failure(1, told), login(2, { ...told, device_id: "d2" })]);
  expect(vector).toMatchObject({ "account.logins": 1, "account.failed_logins_1h": 1, "account.device_is_new": true });
});

test("travel: short distances do not count, and the travel time is at least one minute", () => {
  const from = login(0, { lat: 0, lon: 0 });
  // One degree of the equator is 111.2 km.
  expect(lastOf([from, login(1, { lat: 0, lon: 1.79 })], "account.travel_kmh")).toBeUndefined();
  expect(lastOf([from, login(60, { lat: 0, lon: 1.81 })], "account.travel_kmh")).toBe(201);
  expect(lastOf([from, login(0, { lat: 0, lon: 1.81 })], "account.travel_kmh")).toBe(12_076);
  expect(lastOf([from, login(60, { lat: 0, lon: 180 })], "account.travel_kmh")).toBe(20_015);
});

test("travel: a late log-in is compared with the one after it, and does not replace it", () => {
  const deeds = [login(100, { country: "DE" }), login(40, { country: "NG" })];
  expect(lastOf(deeds, "account.minutes_since_other_country")).toBe(60);
  expect(lastOf([...deeds, login(130, { country: "FR" })], "account.minutes_since_other_country")).toBe(30);
});

test("travel: minutes since another country count from the last log-in there, and ignore log-ins from an unknown country", () => {
  const deeds = [login(0, { country: "DE" }), login(10, { country: "FR" }), login(20, { country: "FR" })];
  expect(lastOf([...deeds, login(30, { country: "FR" })], "account.minutes_since_other_country")).toBe(30);
  expect(lastOf([...deeds, login(30, { country: "DE" })], "account.minutes_since_other_country")).toBe(10);
  const nowhere = [login(0, { lat: 1, lon: 1 }), login(10, { country: "FR" })];
  expect(lastOf([...nowhere, login(20, { country: "FR" })], "account.minutes_since_other_country")).toBeUndefined();
});

test("value: the median is over the last 16 amounts before this one, and 0 is not an amount", () => {
  const old = Array.from({ length: 10 }, (_, index) => pay(index, 1000));
  const recent = Array.from({ length: 16 }, (_, index) => pay(100 + index, index < 8 ? 10 : 30));
  const world = new SmallWorld();
  expect(world.seeAll([...old, ...recent, pay(200, 50)])).toMatchObject({ "account.values": 16, "account.value_ratio": 2.5 });
  expect(lastOf([pay(0, 5), pay(1, 0), pay(2, 5), pay(3, 50)], "account.values")).toBe(2);
});

test("value: a sensitive change that happened after an amount does not count for it, even if it was reported first", () => {
  const change: Deed = { minute: 30, type: "email_changed", ...account };
  expect(lastOf([change, pay(30, 5)], "account.minutes_since_sensitive_change")).toBe(0);
  expect(lastOf([change, pay(29, 5)], "account.minutes_since_sensitive_change")).toBeUndefined();
  expect(lastOf([change, pay(29, 5)], "account.last_sensitive_change")).toBeUndefined();
});

test("value: the last sensitive change is the latest one, even if an earlier one is reported after it", () => {
  const changes: Deed[] = [
    { minute: 30, type: "email_changed", ...account },
    { minute: 20, type: "password_changed", ...account },
  ];
  expect(lastOf([...changes, pay(31, 5)], "account.last_sensitive_change")).toBe("email_changed");
});

test("rings: a busy account's pages do not displace today's failures, but displace old ones", () => {
  const failures = Array.from({ length: 20 }, (_, index) => failure(index));
  const pages = Array.from({ length: 300 }, (_, index): Deed => ({ minute: 100 + index, type: "page_view", ...account }));
  const busy = new SmallWorld().seeAll([...failures, ...pages]);
  expect(busy).toMatchObject({ "account.failed_logins_24h": 20, "account.events_24h": ringSize });
  const later = pages.map((page): Deed => ({ ...page, minute: page.minute / 6 + 2 * day }));
  expect(new SmallWorld().seeAll([...failures, ...later])["account.events_1h"]).toBe(ringSize);
});

test("rings: whichever event of a burst is scored last sees all of it", () => {
  const minutes = [0, 8, 1, 7, 2, 6, 3, 5, 4];
  const burst = minutes.map((minute) => failure(minute, { website_account_id: `a${minute}`, device_id: "d" }));
  expect(lastOf(burst, "device.failed_accounts_1h")).toBe(9);
});

test("device: an account that was ever active on it counts once, up to 1,000, and one that only failed does not count", () => {
  const world = new SmallWorld();
  const totals = Array.from({ length: 1003 }, (_, index) => {
    const active: Deed = { minute: index, type: "page_view", website_account_id: `a${index}`, device_id: "d" };
    const failed = failure(index, { website_account_id: `victim-${index}`, device_id: "d" });
    return world.seeAll([active, failed, { ...active, type: "logout" }])["device.accounts_total"];
  });
  expect([0, 1, 999, 1000, 1002].map((index) => totals[index])).toEqual([1, 2, 1000, 1000, 1000]);
});

const seen = (ms: number): Deed => ({ minute: ms / 60_000, type: "custom:seen", origin: "browser", session_id: "s" });

test("session: events within 50 ms are one action, in whatever order they arrive", () => {
  expect(lastOf([0, 1000, 1049, 1010, 2000].map(seen), "session.gaps")).toBe(2);
  expect(lastOf([0, 1000, 1050, 2000].map(seen), "session.gaps")).toBe(3);
});
