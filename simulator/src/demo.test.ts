import { expect, test } from "vitest";
import { demoTimeline } from "./demo.ts";
import { eventsIn, type Delivery, type SessionTruth } from "./delivery.ts";

const startMs = Date.UTC(2026, 10, 15, 3, 30);
const liveMs = startMs + 7000;
const options = { startMs, appKey: "key", origin: "https://shop.example" };

function firstOf(seed: string, seconds: number): Delivery[] {
  const demo = demoTimeline({ ...options, seed });
  for (const batch of demo.backlog()) expect(batch.activities.length).toBeGreaterThan(0);
  const untilMs = liveMs + seconds * 1000;
  const deliveries: Delivery[] = [];
  for (const delivery of demo.live(liveMs)) {
    if (delivery.at_ms > untilMs) return deliveries;
    deliveries.push(delivery);
  }
  throw new Error("The demo came to an end");
}

const attacksIn = (deliveries: Delivery[]): SessionTruth[] =>
  deliveries.flatMap((each) => (each.kind === "truth" && each.session.kind !== "genuine" ? [each.session] : []));

test("demo: the backlog is a month of 4,000 to 6,000 past activities of some 150 accounts, in few requests", () => {
  for (const seed of ["demo", "b", "c"]) {
    const batches = [...demoTimeline({ ...options, seed }).backlog()];
    const activities = batches.flatMap((batch) => batch.activities);
    const times = activities.map(({ occurred_at }) => Date.parse(occurred_at));
    expect(activities.length).toBeGreaterThan(4000);
    expect(activities.length).toBeLessThan(6000);
    expect(batches.length).toBeLessThan(20);
    expect(Math.max(...times)).toBeLessThan(startMs);
    expect(Math.min(...times)).toBeGreaterThan(startMs - 31 * 86_400_000);
    expect(new Set(activities.map(({ activity_id }) => activity_id)).size).toBe(activities.length);
    const accounts = new Set(activities.map(({ website_account_id }) => website_account_id)).size;
    expect(accounts).toBeGreaterThan(130);
    expect(accounts).toBeLessThanOrEqual(150);
  }
});

test("demo: the first 40 seconds contain stuffing, a takeover with a change and money, a farm, a script and a report", () => {
  for (const seed of ["demo", "b", "c"]) {
    const deliveries = firstOf(seed, 40);
    const attacks = attacksIn(deliveries);
    const ofKind = (kind: string): SessionTruth[] => attacks.filter((each) => each.kind === kind);
    expect(ofKind("stuffing_burst").length).toBeGreaterThan(20);
    expect(ofKind("signup_farm").length).toBeGreaterThan(5);
    expect(ofKind("takeover_naive")).toMatchObject([{ has_login: true, has_sensitive_change: true, has_value: true }]);
    expect(ofKind("takeover_naive")[0]?.logins_before).toBeGreaterThan(5);
    expect(ofKind("scripted_bot")).toHaveLength(1);
    const reported = deliveries.flatMap((each) => (each.kind === "server" ? each.activities : []));
    expect(reported.filter(({ type }) => type === "fraud_report")).toHaveLength(1);
  }
});

test("demo: an hour has a few events a second, with an attack every minute and later every few minutes", () => {
  const hour = firstOf("demo", 3600);
  const events = hour.reduce((sum, delivery) => sum + eventsIn(delivery), 0);
  expect(events / 3600).toBeGreaterThan(1);
  expect(events / 3600).toBeLessThan(10);
  const starts = new Map(attacksIn(hour).map(({ attack_id, first_ms }) => [attack_id, (first_ms - liveMs) / 60_000]));
  const begun = (from: number, to: number): number =>
    starts
      .values()
      .filter((minute) => minute >= from && minute < to)
      .toArray().length;
  expect(begun(1, 10)).toBeGreaterThanOrEqual(6);
  expect(begun(10, 60)).toBeGreaterThanOrEqual(6);
  expect(begun(10, 60)).toBeLessThan(20);
  const members = hour.filter(
    (each) => each.kind === "truth" && each.session.kind === "genuine" && each.session.website_account_id,
  );
  expect(members.length).toBeGreaterThan(20);
  const times = hour.map(({ at_ms }) => at_ms);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("demo: the same seed and start give the same bytes", () => {
  expect(JSON.stringify(firstOf("demo", 60))).toBe(JSON.stringify(firstOf("demo", 60)));
});
