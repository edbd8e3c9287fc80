import { expect, test } from "vitest";
import type { Activity } from "@casehound/client";
import type { SessionTruth } from "./delivery.ts";
import { distanceKm } from "./countries.ts";
import { Network } from "./network.ts";
import { openShop, simulate } from "./simulate.ts";

// Honest people must sometimes look suspicious. Otherwise a benchmark would flatter every rule.
const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 9, 5);
const options = { seed: "people", startMs, days: 21, users: 300, appKey: "key", origin: "https://shop.example", guestShare: 0.2 };
const network = new Network();
const { people } = openShop(options).shop;

const activities: Activity[] = [];
const sessions: SessionTruth[] = [];
const heard = new Set<string>();
// Long intervals, because it only matters which sessions sent anything.
for (const delivery of simulate({ ...options, attacks: {}, sendIntervalMs: 600_000 })) {
  if (delivery.kind === "truth") sessions.push(delivery.session);
  if (delivery.kind === "server") activities.push(...delivery.activities);
  if (delivery.kind === "browser") heard.add(/"_session_id":"([^"]+)"/.exec(delivery.body)?.[1] ?? "");
}
const logins = activities.filter(({ type }) => type === "login_succeeded");
const byAccount = Map.groupBy(logins, ({ website_account_id: id = "" }) => id);

const sizes = (groups: Map<string, Activity[]>, of: (activity: Activity) => string | undefined): number[] =>
  groups
    .values()
    .map((group) => new Set(group.map(of)).size)
    .toArray();

const share = (list: number[], holds: (value: number) => boolean): number => list.filter(holds).length / list.length;

test("people: have one to three devices, and most log in from several addresses", () => {
  const devices = sizes(byAccount, ({ device_id }) => device_id);
  expect(share(devices, (count) => count <= 4)).toBeGreaterThan(0.8);
  expect(share(devices, (count) => count > 1)).toBeGreaterThan(0.4);
  expect(
    share(
      sizes(byAccount, ({ ip }) => ip),
      (count) => count > 2,
    ),
  ).toBeGreaterThan(0.5);
});

test("people: carriers, offices and families share addresses, and families share devices", () => {
  const onAddress = sizes(
    Map.groupBy(logins, ({ ip = "" }) => ip),
    ({ website_account_id }) => website_account_id,
  );
  expect(Math.max(...onAddress)).toBeGreaterThanOrEqual(5);
  const known = logins.filter(({ device_id }) => device_id !== undefined);
  const onDevice = sizes(
    Map.groupBy(known, ({ device_id = "" }) => device_id),
    ({ website_account_id }) => website_account_id,
  );
  expect(onDevice.filter((count) => count > 1).length).toBeGreaterThan(5);
  expect(share(onDevice, (count) => count === 1)).toBeGreaterThan(0.9);
});

test("people: some are abroad for a while, and nobody travels faster than an airplane except by VPN or a distant gateway", () => {
  const countries = sizes(byAccount, ({ ip = "" }) => network.locate(ip)?.carrier.country.code);
  expect(share(countries, (count) => count > 1)).toBeGreaterThan(0.03);
  expect(share(countries, (count) => count === 1)).toBeGreaterThan(0.75);
  let fast = 0;
  for (const { account, habits } of people) {
    const seen = (byAccount.get(account.id) ?? []).flatMap(({ ip = "", occurred_at }) => {
      const site = network.locate(ip);
      return site === null || site.carrier.kind === "mobile" || habits.usesVpn > 0
        ? []
        : [{ city: site.city, atMs: Date.parse(occurred_at) }];
    });
    for (const [index, { city, atMs }] of seen.entries()) {
      const last = seen[index - 1];
      if (last !== undefined && distanceKm(last.city, city) > 900 * ((atMs - last.atMs) / hourMs) + 50) fast++;
    }
  }
  // The exceptions have an office in another city, because their own city has none.
  expect(fast / logins.length).toBeLessThan(0.005);
});

test("people: mistype once or twice, seldom five times, and then get in or reset the password", () => {
  const visits = Map.groupBy(activities, ({ session_id, website_account_id: id }) => `${session_id}/${id}`);
  const failed = visits
    .values()
    .map((visit) => visit.filter(({ type }) => type === "login_failed").length)
    .toArray();
  expect(share(failed, (count) => count > 0)).toBeGreaterThan(0.03);
  expect(share(failed, (count) => count > 0)).toBeLessThan(0.2);
  expect(failed.some((count) => count >= 5)).toBe(true);
  const resets = activities.filter(({ type, attributes }) => type === "password_changed" && attributes?.["method"] === "reset");
  expect(resets.length).toBeGreaterThan(5);
});

test("people: about one session in thirty sends no browser events", () => {
  const served = new Set(activities.map(({ session_id = "" }) => session_id));
  expect(served.difference(heard).size / served.size).toBeGreaterThan(0.01);
  expect(served.difference(heard).size / served.size).toBeLessThan(0.06);
});

test("people: amounts are personal, some sell, some change passwords, newcomers sign up, and some have been away", () => {
  const amounts = activities.filter(({ type }) => type === "payment").map(({ attributes }) => Number(attributes?.["amount"]));
  expect(Math.max(...amounts) / (amounts.toSorted((a, b) => a - b)[Math.floor(amounts.length / 2)] ?? 1)).toBeGreaterThan(10);
  const counts = Object.groupBy(activities, ({ type }) => type);
  for (const type of ["signup", "transfer", "payee_added", "password_changed", "email_changed", "mfa_changed", "logout"]) {
    expect(counts[type]?.length ?? 0, type).toBeGreaterThan(0);
  }
  const returns = byAccount.values().filter((group) => {
    const times = group.map(({ occurred_at }) => Date.parse(occurred_at));
    return times.some((atMs, index) => atMs - (times[index - 1] ?? atMs) > 7 * 24 * hourMs);
  });
  expect(returns.toArray().length).toBeGreaterThan(10);
  expect(sessions.filter((session) => session.website_account_id === undefined).length).toBeGreaterThan(100);
});
