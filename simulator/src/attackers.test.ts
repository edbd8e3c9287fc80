import { isDisposableEmail } from "disposable-email-domains-js";
import { expect, test } from "vitest";
import type { Activity } from "@casehound/client";
import { userAgentAt } from "./agents.ts";
import type { AttackKind, SessionTruth } from "./delivery.ts";
import { Network, type Site } from "./network.ts";
import type { Person } from "./people.ts";
import { openShop, simulate } from "./simulate.ts";

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 5);
const attacks: Partial<Record<AttackKind, number>> = {
  takeover_naive: 12,
  takeover_vpn: 8,
  takeover_targeted: 8,
  takeover_very_targeted: 8,
  stuffing_burst: 6,
  stuffing_slow: 2,
  spraying: 3,
  signup_farm: 6,
  reset_then_transfer: 4,
  scripted_bot: 5,
  headless_bot: 8,
  friendly_fraud: 4,
};
const options = {
  seed: "attackers",
  startMs,
  days: 10,
  users: 120,
  appKey: "key",
  origin: "https://shop.example",
  guestShare: 0,
};
const network = new Network();
const people = new Map<string, Person>(openShop(options).shop.people.map((person) => [person.account.id, person]));

type Attempt = { truth: SessionTruth; activities: Activity[] };

const sessions: SessionTruth[] = [];
const activities: Activity[] = [];
const clicks = new Map<string, number[]>();
for (const delivery of simulate({ ...options, attacks })) {
  if (delivery.kind === "truth") sessions.push(delivery.session);
  if (delivery.kind === "server") activities.push(...delivery.activities);
  if (delivery.kind !== "browser") continue;
  const found = delivery.body.matchAll(/"event_type":"([a-z]\w+)".*?"timestamp":(\d+).*?"_session_id":"([^"]+)"/g);
  for (const [, , atMs, session = ""] of found) clicks.set(session, [...(clicks.get(session) ?? []), Number(atMs)]);
}

const bySession = Map.groupBy(activities, ({ session_id, website_account_id }) => `${session_id}/${website_account_id}`);

// The attacks of a kind, each with its sessions and what the servers reported about them.
function attacksOf(kind: AttackKind): Attempt[][] {
  const attempts = sessions
    .filter((session) => session.kind === kind)
    .map((truth) => ({
      truth,
      activities: bySession.get(`${truth.session_id}/${truth.website_account_id}`) ?? [],
    }));
  return [...Map.groupBy(attempts, ({ truth }) => truth.attack_id).values()];
}

function single(kind: AttackKind): { attempt: Attempt; victim: Person; site: Site; types: string[] }[] {
  return attacksOf(kind).map(([attempt]) => {
    const victim = people.get(attempt?.truth.website_account_id ?? "");
    const site = network.locate(attempt?.truth.ip ?? "");
    if (attempt === undefined || victim === undefined || site === null) throw new Error(`${kind} has no victim or no place`);
    return { attempt, victim, site, types: attempt.activities.map(({ type }) => type) };
  });
}

const agentsOf = (victim: Person, atMs: number): string[] => victim.devices.map(({ agent }) => userAgentAt(agent, atMs));

test("attackers: each kind occurs as often as requested", () => {
  const counts = Object.fromEntries(
    Object.keys(attacks).map((kind) => [
      kind,
      new Set(sessions.filter((each) => each.kind === kind).map((each) => each.attack_id)).size,
    ]),
  );
  expect(counts).toEqual(attacks);
});

test("attackers: each kind of takeover imitates as much of the victim as it should, and all of them get in", () => {
  for (const { victim, site } of single("takeover_naive")) expect(site.carrier.country).not.toBe(victim.country);
  for (const { victim, site } of single("takeover_vpn")) {
    expect([site.carrier.country.code, site.carrier.kind]).toEqual([victim.country.code, "hosting"]);
  }
  for (const { attempt, victim, site } of single("takeover_targeted")) {
    expect([site.carrier.country.code, site.carrier.kind]).toEqual([victim.country.code, "home"]);
    expect(agentsOf(victim, attempt.truth.first_ms)).toContain(attempt.activities[0]?.user_agent);
  }
  for (const { attempt, victim, site } of single("takeover_very_targeted")) {
    expect(site.carrier.asn).toBe(victim.household.site.carrier.asn);
    expect(agentsOf(victim, attempt.truth.first_ms)).toContain(attempt.activities[0]?.user_agent);
  }
});

test("attackers: thieves change security settings and take money, and some only look", () => {
  const thefts = (["takeover_naive", "takeover_vpn", "takeover_targeted", "takeover_very_targeted"] as const).flatMap(single);
  expect(thefts.every(({ attempt }) => attempt.truth.has_login)).toBe(true);
  const plans = thefts.map(({ attempt: { truth } }) => `${truth.has_sensitive_change}/${truth.has_value}`);
  expect(new Set(plans)).toEqual(new Set(["true/true", "true/false", "false/true", "false/false"]));
  for (const { types } of single("reset_then_transfer")) {
    expect(types.indexOf("password_changed")).toBeLessThan(types.indexOf("login_succeeded"));
    expect(types.indexOf("login_succeeded")).toBeLessThan(types.indexOf("transfer"));
  }
});

test("attackers: burst stuffing uses one device or one address and seldom succeeds", () => {
  for (const attempts of attacksOf("stuffing_burst")) {
    const devices = new Set(attempts.map(({ truth }) => truth.device_id));
    const addresses = new Set(attempts.map(({ truth }) => truth.ip));
    expect(attempts.length).toBeGreaterThanOrEqual(60);
    expect(Math.min(devices.size, addresses.size)).toBe(1);
    expect(new Set(attempts.map(({ truth }) => truth.website_account_id)).size).toBeGreaterThan(20);
    expect(attempts.filter(({ truth }) => truth.has_login).length / attempts.length).toBeLessThan(0.08);
  }
});

test("attackers: slow stuffing takes days and many addresses; spraying uses many addresses of one network and few tries each", () => {
  for (const attempts of attacksOf("stuffing_slow")) {
    const perAddress = Map.groupBy(attempts, ({ truth }) => truth.ip);
    expect(Math.max(...perAddress.values().map((tries) => tries.length))).toBeLessThanOrEqual(6);
    expect((attempts.at(-1)?.truth.last_ms ?? 0) - (attempts[0]?.truth.first_ms ?? 0)).toBeGreaterThan(0.6 * dayMs);
  }
  for (const attempts of attacksOf("spraying")) {
    expect(new Set(attempts.map(({ truth }) => network.locate(truth.ip)?.carrier.asn)).size).toBe(1);
    expect(new Set(attempts.map(({ truth }) => truth.ip)).size).toBeGreaterThan(0.8 * attempts.length);
    const perAccount = Map.groupBy(attempts, ({ truth }) => truth.website_account_id);
    expect(Math.max(...perAccount.values().map((tries) => tries.length))).toBeLessThanOrEqual(3);
  }
});

test("attackers: farms sign up many accounts from one device or address, mostly with disposable e-mail addresses", () => {
  const farms = attacksOf("signup_farm");
  for (const attempts of farms) {
    const devices = new Set(attempts.map(({ truth }) => truth.device_id));
    expect(Math.min(devices.size, new Set(attempts.map(({ truth }) => truth.ip)).size)).toBe(1);
    expect(attempts.length).toBeGreaterThanOrEqual(8);
    expect(attempts.some(({ truth }) => people.has(truth.website_account_id ?? ""))).toBe(false);
  }
  const mails = farms
    .flat()
    .flatMap(({ activities }) =>
      activities.flatMap(({ type, attributes }) => (type === "signup" ? [String(attributes?.["email"])] : [])),
    );
  const share = mails.filter((mail) => isDisposableEmail(mail)).length / mails.length;
  expect(share).toBeGreaterThan(0.5);
  expect(share).toBeLessThan(0.9);
});

// The standard deviation over the mean of the gaps between a session's own events.
function gapSpread(times: number[]): number {
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length) / mean;
}

test("attackers: programs have a more regular rhythm than people", () => {
  const bots = single("scripted_bot").map(({ attempt }) => gapSpread(clicks.get(attempt.truth.session_id ?? "") ?? []));
  const genuine = sessions.filter(({ kind }) => kind === "genuine").map(({ session_id }) => clicks.get(session_id ?? "") ?? []);
  const human = genuine
    .filter((times) => times.length > 10)
    .map(gapSpread)
    .toSorted((a, b) => a - b);
  expect(bots).toHaveLength(5);
  expect(Math.max(...bots)).toBeLessThan(0.5);
  expect(human.length).toBeGreaterThan(50);
  expect(human[Math.floor(human.length / 2)]).toBeGreaterThan(0.7);
});

test("attackers: bots log in; scripted ones look like people's browsers, and others identify themselves", () => {
  for (const { types, attempt } of single("scripted_bot")) {
    expect(types).toContain("login_succeeded");
    expect(attempt.activities[0]?.user_agent).not.toMatch(/Headless|python|curl|Go-http|okhttp/);
  }
  for (const { types, attempt } of single("headless_bot")) {
    expect(types).toContain("login_succeeded");
    expect(attempt.activities[0]?.user_agent).toMatch(/Headless|python|curl|Go-http|okhttp/);
  }
});

test("attackers: friendly fraud is a payment by the owner, followed days later by a report", () => {
  for (const { attempt, types, victim } of single("friendly_fraud")) {
    expect(types).toContain("payment");
    const report = activities.find(({ type, website_account_id: id }) => type === "fraud_report" && id === victim.account.id);
    expect(Date.parse(report?.occurred_at ?? "")).toBeGreaterThan(attempt.truth.last_ms + dayMs);
    expect(agentsOf(victim, attempt.truth.first_ms)).toContain(attempt.activities[0]?.user_agent);
  }
});
