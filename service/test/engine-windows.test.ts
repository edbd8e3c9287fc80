import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fields, ringSize } from "../src/detection/catalogue.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { blockOf, hostOf, siteOf } from "../src/domain/address.ts";
import { decisionsOf, drain, iso, labDetector, labNow, labNowMs, newTenant, store, useLab } from "./engine-lab.ts";
import { countryOf, landEnrichment, networkOf } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const numRuns = 6;
const batchesMax = 4;
const counted = fields.filter((field) => field.isRing).map((field) => field.name);
const windowsMs: Record<string, number> = { "10m": 10 * minuteMs, "1h": hourMs, "24h": 24 * hourMs };

type Known = RecordedActivity & { at: number };
const isLogin = ({ type }: RecordedActivity) => type === "login_succeeded" || type === "login_failed";

// The entity that an event belongs to, or undefined if there is none of that kind.
const entities: Record<string, (event: RecordedActivity) => string | undefined> = {
  account: (event) => event.website_account_id,
  device: (event) => event.device_id,
  ip: (event) => event.ip && hostOf(event.ip),
  network: (event) => (isLogin(event) && event.ip !== undefined ? networkOfAny(event.ip) : undefined),
};

function networkOfAny(ip: string): string {
  return ip.includes(":") ? blockOf(ip) : networkOf(ip);
}

// For an account, an IPv6 /48 counts as one address.
function addressFor(group: string, ip: string | undefined): string | undefined {
  return ip && (group === "account" ? siteOf(ip) : hostOf(ip));
}

function blockOfSignup({ type, ip }: RecordedActivity): string | undefined {
  return type === "signup" && ip?.includes(":") === true ? siteOf(ip) : undefined;
}

// What a field's name says it counts: which events, and the distinct values of what.
const stems: Record<
  string,
  { isCounted: (event: Known) => boolean; value?: (event: Known, group: string) => string | undefined }
> = {
  events: { isCounted: () => true },
  logins: { isCounted: ({ type }) => type === "login_succeeded" },
  failed_logins: { isCounted: ({ type }) => type === "login_failed" },
  signups: { isCounted: ({ type }) => type === "signup", value: (event) => event.website_account_id },
  block_signups: { isCounted: ({ type }) => type === "signup", value: (event) => event.website_account_id },
  login_accounts: { isCounted: ({ type }) => type === "login_succeeded", value: (event) => event.website_account_id },
  accounts: { isCounted: () => true, value: (event) => event.website_account_id },
  failed_accounts: { isCounted: ({ type }) => type === "login_failed", value: (event) => event.website_account_id },
  devices: { isCounted: () => true, value: (event) => event.device_id },
  ips: { isCounted: () => true, value: (event, group) => addressFor(group, event.ip) },
  failed_ips: { isCounted: ({ type }) => type === "login_failed", value: (event, group) => addressFor(group, event.ip) },
  countries: { isCounted: () => true, value: (event) => countryOf(event.ip) || undefined },
};

// Counts over all events that the engine knew when it scored this one.
function bruteForce(name: string, event: Known, known: Known[]): number {
  const [, group = "", stem = "", window = ""] = /^(\w+)\.(\w+)_(10m|1h|24h)$/.exec(name) ?? [];
  // Only sign-ups from IPv6 addresses are counted by block.
  const entityOf = stem === "block_signups" ? blockOfSignup : entities[group];
  const [meaning, windowMs] = [stems[stem], windowsMs[window]];
  if (!entityOf || !meaning || windowMs === undefined) throw new Error(`what ${name} counts is not known here`);
  const own = entityOf(event);
  if (own === undefined) return 0;
  const alike = known.filter((each) => entityOf(each) === own);
  const ends = [event.at, ...alike.map((each) => each.at).filter((at) => at > event.at && at < event.at + windowMs)];
  const counts = ends.map((end) => {
    const inside = alike.filter((each) => each.at > end - windowMs && each.at <= end && meaning.isCounted(each));
    const { value } = meaning;
    return value ? new Set(inside.map((each) => value(each, group)).filter((each) => each !== undefined)).size : inside.length;
  });
  return Math.max(...counts);
}

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 6 });
// Most are within minutes and some within hours of each other. Some clocks are ahead by hours or by millennia.
const offset = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -20 * minuteMs, max: 0 }) },
  { weight: 3, arbitrary: fc.integer({ min: -30 * hourMs, max: 9 * minuteMs }) },
  { weight: 1, arbitrary: fc.constantFrom(5 * hourMs, 24 * hourMs, 253_402_300_799_999 - labNowMs) },
);
const drawn = fc.record({
  type: fc.constantFrom("login_failed", "login_failed", "login_succeeded", "signup", "page_view"),
  offset,
  website_account_id: optional(fc.constantFrom("u-1", "u-2", "u-3", "u-4")),
  device_id: optional(fc.constantFrom("d-1", "d-2", "d-3")),
  ip: optional(
    fc.constantFrom(
      "10.0.0.1",
      "10.0.0.2",
      "10.1.0.1",
      "10.2.0.1",
      "192.0.2.1",
      "192.0.2.77",
      "2001:db8:1:1::1",
      "2001:db8:1:2::1",
    ),
  ),
  // The batches in which it is sent.
  batches: fc.array(fc.nat(batchesMax), { minLength: 1, maxLength: 3 }),
});

type Drawn = Pick<RecordedActivity, "type"> & { offset: number } & {
  [name in "website_account_id" | "device_id" | "ip"]?: string | undefined;
};

function toActivity({ offset: ms, type, website_account_id, device_id, ip }: Drawn, index: number): RecordedActivity {
  return {
    activity_id: `e-${index}`,
    origin: "server",
    received_at: labNow,
    occurred_at: iso(labNowMs + ms),
    type,
    ...(website_account_id !== undefined && { website_account_id }),
    ...(device_id !== undefined && { device_id }),
    ...(ip !== undefined && { ip }),
  };
}

// A time too far ahead is replaced by the time of receipt.
function toKnown(activity: RecordedActivity): Known {
  const [occurred, received] = [Date.parse(activity.occurred_at), Date.parse(activity.received_at)];
  return { ...activity, at: occurred > received + 10 * minuteMs ? received : occurred };
}

// Sorted by time, as within a batch. Activities of the same time stay in the order in which they were sent.
function inOrder(activities: RecordedActivity[]): Known[] {
  return activities.map(toKnown).toSorted((a, b) => a.at - b.at);
}

// Sends each activity in each of its batches and scores it. Returns the activities in the order in which they were scored.
async function scoreInBatches(tenantId: string, all: { activity: RecordedActivity; batches: number[] }[]): Promise<Known[]> {
  const detector = labDetector(lab.current.database, { enrichment });
  const scored: Known[] = [];
  for (let batch = 0; batch <= batchesMax; batch++) {
    const sent = all.filter(({ batches }) => batches.includes(batch)).map(({ activity }) => activity);
    if (sent.length === 0) continue;
    await store(lab.current, tenantId, sent);
    const fresh = sent.filter((each) => !scored.some((known) => known.activity_id === each.activity_id));
    expect(await drain(detector, tenantId)).toBe(fresh.length);
    scored.push(...inOrder(fresh));
  }
  return scored;
}

test(`engine: each window of every scored event equals a brute-force count, with late and repeated events, up to ${ringSize}`, async () => {
  let compared = 0;
  const property = fc.asyncProperty(fc.array(drawn, { minLength: 20, maxLength: ringSize }), async (all) => {
    const tenantId = await newTenant(lab.current);
    const sent = all.map((each, index) => ({ activity: toActivity(each, index), batches: each.batches }));
    const scored = await scoreInBatches(tenantId, sent);
    const decisions = await decisionsOf(lab.current, tenantId);
    for (const [index, event] of scored.entries()) {
      const known = scored.slice(0, index + 1);
      const features = decisions.get(event.activity_id)?.features ?? {};
      const stored = counted.map((name) => [name, features[name] ?? 0]);
      expect(stored).toEqual(counted.map((name) => [name, bruteForce(name, event, known)]));
      compared += counted.length;
    }
  });
  await fc.assert(property, { numRuns });
  expect(compared).toBeGreaterThan(numRuns * 500);
});

test(`engine: with more than ${ringSize} events no window counts more than there were, and a full one counts ${ringSize}`, async () => {
  const tenantId = await newTenant(lab.current);
  const sent = fc.sample(drawn, { numRuns: 120, seed: 7 }).map((each, index) => {
    const activity = { ...toActivity(each, index), device_id: "d-1", ip: "10.0.0.1" };
    return { activity, batches: each.batches };
  });
  const tries = Array.from({ length: 90 }, (_, n) => {
    const named = { website_account_id: `u-${n}`, device_id: "d-9", ip: "192.0.2.9" };
    const activity = { ...toActivity({ type: "login_failed", offset: 0, ...named }, 0), activity_id: `burst-${n}` };
    return { activity, batches: [n % 3] };
  });
  const scored = await scoreInBatches(tenantId, [...sent, ...tries]);
  const decisions = await decisionsOf(lab.current, tenantId);
  const countedOf = (id: string, name: string) => Number(decisions.get(id)?.features[name] ?? 0);
  const over = scored.flatMap((event, index) => {
    const known = scored.slice(0, index + 1);
    return counted.filter((name) => countedOf(event.activity_id, name) > Math.min(ringSize, bruteForce(name, event, known)));
  });
  expect(over).toEqual([]);
  const last = scored.findLast(({ activity_id: id }) => id.startsWith("burst-"))?.activity_id ?? "";
  const full = ["device.failed_logins_10m", "device.failed_accounts_1h", "ip.accounts_10m", "ip.failed_logins_1h"];
  expect(full.map((name) => [name, countedOf(last, name)])).toEqual(full.map((name) => [name, ringSize]));
});
