import { expect, test } from "vitest";
import type { Activity } from "@casehound/client";
import type { BrowserRequest, SessionTruth } from "./delivery.ts";
import { Network } from "./network.ts";
import { sceneKinds, type SceneKind } from "./scenes.ts";
import { stageDeliveries, stageSeeds, type StageOptions } from "./stage.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 9, 5);
const period = { startMs, measuredMs: startMs + 6 * dayMs, endMs: startMs + 10 * dayMs };
const users = 90;
const network = new Network();

type Played = { activities: Activity[]; sessions: SessionTruth[]; requests: BrowserRequest[]; notes: number };

function optionsOf(scene: SceneKind, more: Partial<StageOptions> = {}): StageOptions {
  const place = { appKey: "key", origin: "https://shop.example", sendIntervalMs: 600_000 };
  return { ...place, seed: "scenes", users, period, scene, attacks: {}, ...more };
}

function play(scene: SceneKind): Played {
  const played: Played = { activities: [], sessions: [], requests: [], notes: 0 };
  for (const delivery of stageDeliveries(optionsOf(scene))) {
    if (delivery.kind === "truth") played.sessions.push(delivery.session);
    if (delivery.kind === "server") played.activities.push(...delivery.activities);
    if (delivery.kind === "browser") played.requests.push(delivery);
    if (delivery.kind === "fraud") played.notes++;
  }
  return played;
}

const timeOf = ({ occurred_at }: Activity): number => Date.parse(occurred_at);
const isMeasured = (activity: Activity): boolean => timeOf(activity) >= period.measuredMs;
const loginsIn = ({ activities }: Played): Activity[] =>
  activities.filter((each) => each.type === "login_succeeded" && isMeasured(each));
const accountsIn = (list: Activity[]): number => new Set(list.map(({ website_account_id: id }) => id)).size;

// The largest number of accounts in one group.
function most(list: Activity[], of: (activity: Activity) => string | undefined): number {
  return Math.max(...Map.groupBy(list, of).values().map(accountsIn));
}

const hourOf = (activity: Activity): string => activity.occurred_at.slice(0, 13);
const halfOf = (activity: Activity): string => (timeOf(activity) < (period.measuredMs + period.endMs) / 2 ? "first" : "second");
const ordinary = play("ordinary");

test.each(sceneKinds)("scenes: nobody in %s is an attacker, and the same seed gives the same bytes", (kind) => {
  const small = optionsOf(kind, { users: 6, period: { ...period, startMs: period.measuredMs - dayMs } });
  const first = JSON.stringify([...stageDeliveries(small)]);
  expect(JSON.stringify([...stageDeliveries(small)])).toBe(first);
  expect(first).not.toMatch(/"kind":"fraud"|attack_id/);
});

test("scenes: a campaign brings most customers within a few hours, once in each half", () => {
  const played = play("campaign");
  for (const half of Map.groupBy(loginsIn(played), halfOf).values()) {
    const perHour = most(half, hourOf);
    expect(perHour).toBeGreaterThan(3 * most(loginsIn(ordinary), hourOf));
    expect(perHour).toBeGreaterThan(users / 8);
  }
});

test("scenes: with carrier NAT all customers of a country share two addresses, in the history too", () => {
  const { activities } = play("carrier_nat");
  const logins = activities.filter(({ type }) => type === "login_succeeded");
  const perCountry = Map.groupBy(logins, ({ ip = "" }) => network.locate(ip)?.carrier.country.code);
  for (const list of perCountry.values()) expect(new Set(list.map(({ ip }) => ip)).size).toBeLessThanOrEqual(4);
  expect(most(logins, ({ ip }) => ip)).toBeGreaterThan(12);
});

const countryOf = ({ ip = "" }: Activity): string | undefined => network.locate(ip)?.carrier.country.code;

test("scenes: on holiday most customers log in from abroad", () => {
  const home = new Map<string | undefined, string | undefined>();
  const { activities } = play("holiday");
  for (const each of activities.filter((activity) => !isMeasured(activity))) home.set(each.website_account_id, countryOf(each));
  const logins = activities.filter(
    (each) => each.type === "login_succeeded" && isMeasured(each) && home.has(each.website_account_id),
  );
  const abroad = logins.filter((each) => countryOf(each) !== home.get(each.website_account_id));
  expect(abroad.length / logins.length).toBeGreaterThan(0.3);
});

test("scenes: the allowed robots view pages twice and six times an hour from one address each, and never log in", () => {
  const { requests, activities } = play("robots");
  const robots = requests.filter(({ headers }) => headers["user-agent"]?.includes("Headless"));
  const addresses = Map.groupBy(robots, ({ headers }) => headers["x-forwarded-for"]);
  const days = (period.endMs - period.measuredMs) / dayMs;
  expect([...addresses.values()].map((list) => Math.round(list.length / days / 24)).toSorted((a, b) => a - b)).toEqual([2, 6]);
  expect(activities.some(({ ip }) => addresses.has(ip))).toBe(false);
});

test("scenes: sixty customers are behind one event's address in an evening, and some mistype", () => {
  const { activities } = play("event_wifi");
  const measured = activities.filter(isMeasured);
  const venue = [...Map.groupBy(measured, ({ ip }) => ip).values()].toSorted((a, b) => accountsIn(b) - accountsIn(a))[0] ?? [];
  for (const evening of Map.groupBy(venue, halfOf).values()) {
    expect(accountsIn(evening)).toBeGreaterThan(50);
    expect(evening.filter(({ type }) => type === "login_failed").length).toBeGreaterThan(10);
    expect(Math.max(...evening.map(timeOf)) - Math.min(...evening.map(timeOf))).toBeLessThan(6 * hourMs);
  }
});

test("scenes: the large shop has ten times as many customers", () => {
  const short = { period: { startMs, measuredMs: startMs + dayMs, endMs: startMs + 5 * dayMs } };
  const accounts = new Set<string | undefined>();
  for (const delivery of stageDeliveries(optionsOf("large_shop", { users: 20, ...short }))) {
    if (delivery.kind === "server") for (const { website_account_id: id } of delivery.activities) accounts.add(id);
  }
  expect(accounts.size).toBeGreaterThan(120);
  expect(accounts.size).toBeLessThan(220);
});

test("scenes: new customers have no history, and all of them sign up", () => {
  const { activities } = play("new_customers");
  expect(activities.filter((activity) => !isMeasured(activity))).toEqual([]);
  expect(activities.filter(({ type }) => type === "signup").length).toBeGreaterThan(0.9 * users);
});

test("scenes: hundreds of customers log in and out on the kiosk, in the history too", () => {
  const { activities } = play("kiosk");
  const logins = activities.filter(({ type }) => type === "login_succeeded");
  expect(most(logins, ({ device_id }) => device_id)).toBeGreaterThan(200);
  expect(
    most(
      logins.filter((each) => !isMeasured(each)),
      ({ device_id }) => device_id,
    ),
  ).toBeGreaterThan(100);
});

test("scenes: one payee sells to most customers within an hour, and is paid by half of them at other times", () => {
  const { activities } = play("popular_payee");
  const tickets = activities.filter(({ payee_id }) => payee_id === "seller-tickets");
  const payments = activities.filter(({ type }) => type === "payment");
  expect(most(tickets.filter(isMeasured), hourOf)).toBeGreaterThan(users / 3);
  expect(tickets.filter((each) => !isMeasured(each)).length).toBeGreaterThan(
    0.3 * payments.filter((each) => !isMeasured(each)).length,
  );
});

test("scenes: no seed is both for tuning and held out", () => {
  expect(new Set<string>(stageSeeds.tune).intersection(new Set<string>(stageSeeds.heldOut)).size).toBe(0);
});
