import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { activityTypes, type RecordedActivity } from "../src/domain/activity.ts";
import { isStorable } from "../src/domain/text.ts";
import { activityOf, decisionsOf, drain, iso, labDetector, labNowMs, newTenant, store, useLab } from "./engine-lab.ts";
import { landEnrichment } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
const hourMs = 60 * 60 * 1000;

// The limits of what the API accepts, the limits of what a ring keeps, and clocks that are hours off.
const oddTimes = [
  "0001-01-01T00:00:00.000Z",
  "0099-12-31T23:59:59.999Z",
  "1969-12-31T23:59:59.999Z",
  "1970-01-01T00:00:00.000Z",
  "2000-01-01T00:00:00.000Z",
  "2019-12-31T23:59:59.999Z",
  "2054-11-03T19:53:47.775Z",
  "2101-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  iso(labNowMs - 30 * hourMs),
  iso(labNowMs + 10 * 60_000),
  iso(labNowMs + 10 * 60_000 + 1),
  iso(labNowMs + 5 * hourMs),
];

// Every member an event may have, so that every place that keeps a time sees it.
const whole = {
  website_account_id: "u-1",
  session_id: "s-1",
  device_id: "d-1",
  ip: "10.0.0.1",
  user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
};

function oddEvents(): RecordedActivity[] {
  const types = [...activityTypes, "custom:x"];
  return oddTimes.flatMap((occurred_at) =>
    types.map((type) =>
      activityOf({ type, occurred_at, ...whole, attributes: { amount: 40 }, ...(type === "custom:x" && { origin: "browser" }) }),
    ),
  );
}

test("odd times: activity of any year and every type is scored and stored as sent", async () => {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  const events = oddEvents();
  // In two halves: the second is scored with the state that the first left.
  for (const half of [events.filter((_, n) => n % 2 === 0), events.filter((_, n) => n % 2 === 1)]) {
    await store(lab.current, tenantId, half);
    expect(await drain(detector, tenantId)).toBe(half.length);
  }
  const rows = await lab.current.database.query<{ activity_id: string; occurred_at: string }>(sql`
    select activity_id, occurred_at
    from activities
    where tenant_id = ${tenantId}`);
  const stored = Object.fromEntries(rows.map((row) => [row.activity_id, row.occurred_at]));
  expect(stored).toEqual(Object.fromEntries(events.map((event) => [event.activity_id, event.occurred_at])));
});

test("odd times: activity that is years old changes no current window of the same account, device or address", async () => {
  const far = oddEvents().filter(({ occurred_at: at }) => (at >= "2000" && at < "2020") || at === iso(labNowMs - 30 * hourMs));
  const near = Array.from({ length: 20 }, (_, n) => {
    const type = ["login_failed", "login_succeeded", "signup", "page_view"][n % 4] ?? "";
    return activityOf({ activity_id: `near-${n}`, type, occurred_at: iso(labNowMs - n * 60_000), ...whole });
  });
  const windowsAfter = async (first: RecordedActivity[]) => {
    const tenantId = await newTenant(lab.current);
    const detector = labDetector(lab.current.database, { enrichment });
    for (const batch of [first, near]) {
      await store(lab.current, tenantId, batch);
      await drain(detector, tenantId);
    }
    const decisions = await decisionsOf(lab.current, tenantId);
    // A ratio compares a window with the past, which old activity is a part of.
    return near.map(({ activity_id: id }) => {
      const features = Object.entries(decisions.get(id)?.features ?? {});
      return Object.fromEntries(features.filter(([name]) => /_(10m|1h|24h)$/.test(name) && !/_ratio_/.test(name)));
    });
  };
  const wanted = await windowsAfter([]);
  expect(wanted.filter((windows) => Object.keys(windows).length > 10)).toHaveLength(near.length);
  expect(await windowsAfter(far)).toEqual(wanted);
});

test("odd times: a time that is hours or centuries ahead counts as the time of receipt", async () => {
  const tenantId = await newTenant(lab.current);
  const ahead = [5 * hourMs, 48 * hourMs, Date.parse("9999-12-31T23:59:59.999Z") - labNowMs];
  const tries = Array.from({ length: 5 }, (_, n) =>
    activityOf({
      activity_id: `ahead-${n}`,
      type: "login_failed",
      occurred_at: iso(labNowMs + (ahead[n] ?? 0)),
      website_account_id: `u-${n}`,
      device_id: "d-1",
    }),
  );
  await store(lab.current, tenantId, tries);
  await drain(labDetector(lab.current.database), tenantId);
  const decisions = [...(await decisionsOf(lab.current, tenantId)).values()];
  expect(Math.max(...decisions.map(({ features }) => Number(features["device.failed_accounts_1h"])))).toBe(5);
  expect(decisions.some(({ rules }) => rules.includes("stuffing_device"))).toBe(true);
});

// Texts that have a meaning in one of the layers they pass through.
const marks = [
  "{}",
  '{"a":1}',
  "{a,b}",
  "NULL",
  "null",
  "undefined",
  "NaN",
  '"',
  "\\",
  "\\\\",
  '\\"',
  "'",
  "''",
  ",",
  ";--",
  "$1",
  "%s",
];
const signs = ["\u0001", "\u001f", "\n", "\t", "\u2028", "\ufeff", "\u202e", "\ud83d\ude00", "é", "e\u0301", " ", "\u00a0"];
const words = ["__proto__", "constructor", "toString", "hasOwnProperty", "__defineGetter__", "total", "country:", "account:u-1"];
const special = [...marks, ...signs, ...words];
const oddText = (maxLength: number) =>
  fc
    .oneof(
      fc.constantFrom(...special),
      fc.string({ unit: "binary", minLength: 1, maxLength }),
      fc.string({ unit: fc.constantFrom(...special), minLength: 1, maxLength: 4 }),
    )
    .filter((text) => isStorable(text) && text.length > 0 && text.length <= maxLength);

// V8's JSON.parse sometimes reads a name of escaped characters alone as backslashes, once it has seen others like it.
const oddName = oddText(30).filter((name) =>
  Array.from(name).some((character) => JSON.stringify(character) === `"${character}"`),
);

const oddActivity = fc.record({
  type: fc.constantFrom(...activityTypes),
  origin: fc.constantFrom("server" as const, "browser" as const),
  website_account_id: oddText(64),
  session_id: oddText(64),
  device_id: oddText(64),
  ip: fc.constantFrom(
    "10.0.0.1",
    "::1",
    "::ffff:10.1.2.3",
    "fe80::1%eth0",
    "2001:DB8::1",
    "1::",
    "::",
    "255.255.255.255",
    "0.0.0.0",
  ),
  user_agent: fc.oneof(
    oddText(200),
    oddText(40).map((name) => `${name}/1.0 (${name}) ${name}`),
  ),
  attributes: fc.dictionary(oddName, fc.oneof(oddText(30), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()), {
    maxKeys: 5,
  }),
  email: oddText(40),
});

type Stored = { activity_id: string };

// Sorted by id and passed through JSON, which drops the sign of a zero.
function inOrder(rows: Stored[]): unknown {
  return JSON.parse(JSON.stringify(rows.toSorted((a, b) => (a.activity_id < b.activity_id ? -1 : 1))));
}

test("odd texts: activity is scored and stored as sent, whatever its ids, agents, addresses and attributes contain", async () => {
  const property = fc.asyncProperty(fc.array(oddActivity, { minLength: 30, maxLength: 40 }), async (all) => {
    const tenantId = await newTenant(lab.current);
    const events = all.map(({ email, attributes, ...rest }, n) =>
      activityOf({ ...rest, activity_id: `${rest.device_id}-${n}`, attributes: { ...attributes, email: `${email}@${email}` } }),
    );
    await store(lab.current, tenantId, events);
    expect(await drain(labDetector(lab.current.database, { enrichment }), tenantId)).toBe(events.length);
    const rows = await lab.current.database.query<Stored>(sql`
      select origin, type, activity_id, coalesce(website_account_id, claimed_account_id) as website_account_id, session_id, device_id, document::jsonb -> 'attributes' as attributes
      from activities
      where tenant_id = ${tenantId}`);
    const wanted = events.map(
      ({ ip: _ip, user_agent: _agent, received_at: _received, occurred_at: _occurred, ...event }) => event,
    );
    expect(inOrder(rows)).toEqual(inOrder(wanted));
    await decisionsOf(lab.current, tenantId);
  });
  await fc.assert(property, { numRuns: 6 });
});

// Failed log-ins on five accounts, then a robot's log-ins from the same device.
async function scoresOf(browser: string): Promise<number[]> {
  const tenantId = await newTenant(lab.current);
  const named = { device_id: "d-1", ip: "192.0.2.1", user_agent: `${browser}/1.0 (x) y` };
  const failures = Array.from({ length: 5 }, (_, n) => ({ type: "login_failed", website_account_id: `v-${n}` }));
  const logins = Array.from({ length: 9 }, () => ({ type: "login_succeeded", website_account_id: "u-1" }));
  const events = [...failures, ...logins].map((each, n) =>
    activityOf({ ...each, ...named, activity_id: `e-${n}`, occurred_at: iso(labNowMs - 60_000 + n * 1_000) }),
  );
  await store(lab.current, tenantId, events);
  await drain(labDetector(lab.current.database), tenantId);
  const decisions = await decisionsOf(lab.current, tenantId);
  return events.map(({ activity_id: id }) => decisions.get(id)?.score ?? 0);
}

test("odd texts: a browser named after a property of every object is scored like any other", async () => {
  const wanted = await scoresOf("Somebody");
  expect(wanted.filter((score) => score >= 3).length).toBeGreaterThan(4);
  for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"])
    expect([name, await scoresOf(name)]).toEqual([name, wanted]);
});
