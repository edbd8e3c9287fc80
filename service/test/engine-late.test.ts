import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { RecordedActivity } from "../src/domain/activity.ts";
import {
  activityOf,
  decisionsOf,
  drain,
  iso,
  labDetector,
  labNowMs,
  newTenant,
  store,
  useLab,
  type Sketched,
} from "./engine-lab.ts";
import { landEnrichment } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

type Burst = { rule: string; subject: string; events: RecordedActivity[] };

function burst(rule: string, subject: string, count: number, stepMs: number, make: (n: number) => Sketched): Burst {
  const begin = labNowMs - 30 * hourMs;
  const events = Array.from({ length: count }, (_, n) => {
    const fields = make(n);
    return activityOf({ activity_id: `${rule}-${n}`, occurred_at: iso(begin + n * stepMs), ...fields });
  });
  return { rule, subject, events };
}

const failed = { type: "login_failed" };

// Each is just enough for its rule: the rule would not fire without any one of its events.
const bursts = (): Burst[] => [
  burst("stuffing_device", "device:d-stuff", 5, 14 * minuteMs, (n) => ({
    ...failed,
    website_account_id: `sd-${n}`,
    device_id: "d-stuff",
  })),
  burst("stuffing_address", "ip:192.0.2.1", 8, 80 * secondMs, (n) => ({
    ...failed,
    website_account_id: `sa-${n}`,
    ip: "192.0.2.1",
  })),
  burst("stuffing_slow", "campaign:stuffing_slow:*", 4, 7 * hourMs, (n) => ({
    ...failed,
    website_account_id: "slow",
    ip: `10.0.${n}.1`,
  })),
  burst("password_spraying", "network:198.51.100.0/24", 20, 3 * minuteMs, (n) => ({
    ...failed,
    website_account_id: `ps-${n}`,
    ip: `198.51.100.${n % 3}`,
  })),
  burst("signups_device", "device:d-farm", 4, 7 * hourMs, (n) => ({
    type: "signup",
    website_account_id: `farm-${n}`,
    device_id: "d-farm",
  })),
  burst("signups_address", "ip:203.0.113.5", 8, 8 * minuteMs, (n) => ({
    type: "signup",
    website_account_id: `mill-${n}`,
    ip: "203.0.113.5",
  })),
  burst("signups_disposable", "device:d-throw", 2, 20 * hourMs, (n) => ({
    type: "signup",
    website_account_id: `throw-${n}`,
    device_id: "d-throw",
    attributes: { email: "x@mailinator.com" },
  })),
  burst("scripted_rhythm", "account:robot", 9, 700, () => ({
    type: "custom:click",
    origin: "browser",
    identity: "signed",
    website_account_id: "robot",
    session_id: "s-robot",
  })),
  burst("impossible_travel", "account:traveller", 2, 50 * minuteMs, (n) => ({
    type: "login_succeeded",
    website_account_id: "traveller",
    ip: `10.${2 * n}.3.3`,
  })),
];

// The last scored sign-up of a farm is the one that is found. A campaign is named after its start.
function anyOf(subject: string): string {
  return subject.replace(/^(account:(?:farm|mill))-\d$/, "$1-*").replace(/^(campaign:\w+):.*$/, "$1:*");
}

async function rulesBySubject(tenantId: string): Promise<Record<string, string[]>> {
  const decisions = [...(await decisionsOf(lab.current, tenantId)).values()];
  const named = decisions.flatMap(({ id, rules, subject }) => rules.map((rule) => ({ rule, subject, id })));
  const byRule = Map.groupBy(named, ({ rule }) => rule);
  return Object.fromEntries(
    [...byRule].map(([rule, hits]) => [
      rule,
      [...new Set(hits.flatMap(({ subject }) => (subject === null ? [] : anyOf(subject))))],
    ]),
  );
}

async function scoreInBatches(batches: RecordedActivity[][]): Promise<string> {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  for (const batch of batches) {
    await store(lab.current, tenantId, batch);
    await drain(detector, tenantId);
  }
  return tenantId;
}

const wanted = Object.fromEntries(bursts().map(({ rule, subject }) => [rule, [subject]]));

test("late: every burst is found, whatever the order of its events and their split into batches", async () => {
  const all = bursts().flatMap(({ events }) => events);
  const order = fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length });
  const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: all.length, maxLength: all.length });
  const property = fc.asyncProperty(order, cuts, async (events, sizes) => {
    const rest = [...events];
    const batches = sizes.map((size) => rest.splice(0, size)).filter((batch) => batch.length > 0);
    expect(await rulesBySubject(await scoreInBatches(batches))).toEqual(wanted);
  });
  await fc.assert(property, { numRuns: 4 });
});

test("late: every burst is found when its events arrive in reverse order, one by one", async () => {
  const longest = Math.max(...bursts().map(({ events }) => events.length));
  const batches = Array.from({ length: longest }, (_, n) => bursts().flatMap(({ events }) => events.toReversed()[n] ?? []));
  expect(await rulesBySubject(await scoreInBatches(batches))).toEqual(wanted);
});

test("late: a burst that lacks one event is not found, whatever the order of the others", async () => {
  const lacking = fc.tuple(
    ...bursts().map(({ events }) => fc.shuffledSubarray(events, { minLength: events.length - 1, maxLength: events.length - 1 })),
  );
  const property = fc.asyncProperty(lacking, fc.integer({ min: 1, max: 9 }), async (kept, size) => {
    const rest = kept.flat();
    const batches: RecordedActivity[][] = [];
    while (rest.length > 0) batches.push(rest.splice(0, size));
    expect(await rulesBySubject(await scoreInBatches(batches))).toEqual({});
  });
  await fc.assert(property, { numRuns: 3 });
});

const at = (minutesAgo: number) => ({ occurred_at: iso(labNowMs - minutesAgo * minuteMs) });

test("late: sequences are found in any order within a batch", async () => {
  const thief = { website_account_id: "u-1", device_id: "d-thief", session_id: "s-thief" };
  const events = [
    ...Array.from({ length: 10 }, (_, n) => activityOf({ type: "login_failed", ...thief, ...at(20 - n / 2) })),
    activityOf({ type: "login_succeeded", ...thief, ...at(14) }),
    activityOf({ type: "password_changed", ...thief, ...at(10) }),
    activityOf({ type: "transfer", ...thief, ...at(5), attributes: { amount: 5_000 } }),
  ];
  const order = fc.shuffledSubarray(events, { minLength: events.length, maxLength: events.length });
  const property = fc.asyncProperty(order, async (sent) => {
    // Each is received in this order.
    const received = sent.map((each, n) => ({ ...each, received_at: iso(labNowMs + n) }));
    const found = await rulesBySubject(await scoreInBatches([received]));
    expect(found).toEqual({ success_after_failures: ["account:u-1"], change_then_value: ["account:u-1"] });
  });
  await fc.assert(property, { numRuns: 4 });
});

test("late: a payment from before a sensitive change that arrives after it does not count as following it", async () => {
  const named = { website_account_id: "u-1", session_id: "s-1" };
  const pay = (id: string, at: number) =>
    activityOf({ type: "transfer", activity_id: id, occurred_at: iso(at), ...named, attributes: { amount: 5_000 } });
  const change = activityOf({ type: "password_changed", occurred_at: iso(labNowMs - minuteMs), ...named });
  const tenantId = await scoreInBatches([[change], [pay("before", labNowMs - 5 * hourMs), pay("after", labNowMs)]]);
  const decisions = await decisionsOf(lab.current, tenantId);
  expect([decisions.get("before")?.rules, decisions.get("after")?.rules]).toEqual([[], ["change_then_value"]]);
});
