import { assert, asyncProperty, constantFrom, integer, array, boolean, record, type Arbitrary } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { AssessLab } from "./assess-lab.ts";
import { activityOf, drain, iso, labDetector, labNowMs, newTenant, snapshot, store, useLab } from "./engine-lab.ts";
import { landEnrichment } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
let assessing: AssessLab;
beforeAll(async () => {
  assessing = new AssessLab(labDetector(lab.current.database, { enrichment }));
  await assessing.start();
});
afterAll(() => assessing.stop());

const minuteMs = 60_000;

// Activities that arrive together. `isLate`: they happened hours before the earlier steps. `isResent`: they are all sent again at
// the end.
type Step = {
  events: Event[];
  gapMinutes: number;
  isLate: boolean;
  isResent: boolean;
  // Whether they are all sent at the same time.
  isBurst: boolean;
  // For the second run: which of them are assessed, and whether the others are still waiting when the next activity arrives.
  areAssessed: boolean[];
  areLeft: boolean;
};
type Event = { type: string; account: number; device: number; address: number; isPage: boolean; amount: number };

const types = [
  "login_succeeded",
  "login_failed",
  "signup",
  "password_changed",
  "payee_added",
  "payment",
  "transfer",
  "page_view",
];

const event: Arbitrary<Event> = record({
  type: constantFrom(...types, "login_failed", "login_succeeded", "fraud_report", "logout"),
  account: integer({ min: 0, max: 7 }),
  // Few devices and addresses, so several accounts share them.
  device: integer({ min: 0, max: 2 }),
  address: integer({ min: 0, max: 3 }),
  isPage: constantFrom(false, false, false, true),
  amount: integer({ min: 1, max: 5_000 }),
});

const step: Arbitrary<Step> = record({
  events: array(event, { minLength: 1, maxLength: 8 }),
  gapMinutes: constantFrom(0, 1, 7, 90),
  isLate: constantFrom(false, false, false, true),
  isResent: boolean(),
  isBurst: boolean(),
  areAssessed: array(boolean(), { minLength: 8, maxLength: 8 }),
  areLeft: boolean(),
});

type Sent = { activities: RecordedActivity[]; step: Step };

// Within a step, activities arrive in order of time, because the engine would sort those in one batch.
function historyOf(steps: Step[]): Sent[] {
  let at = labNowMs - 24 * 60 * minuteMs;
  return steps.map((each, index) => {
    at += each.gapMinutes * minuteMs;
    const from = each.isLate ? at - 5 * 60 * minuteMs : at;
    const activities = each.events.map((one, place) => activityIn(one, { id: `a-${index}-${place}`, at: from + place * 1_000 }));
    at += each.events.length * 1_000;
    return { activities, step: each };
  });
}

function activityIn(
  { type, account, device, address, isPage, amount }: Event,
  { id, at }: { id: string; at: number },
): RecordedActivity {
  const isBrowser = isPage && ["page_view", "login_succeeded", "login_failed"].includes(type);
  return activityOf({
    activity_id: id,
    type,
    occurred_at: iso(at),
    origin: isBrowser ? "browser" : "server",
    website_account_id: `u-${account}`,
    device_id: `d-${device}`,
    session_id: `s-${account}-${device}`,
    ip: `10.${address}.0.${device + 1}`,
    ...(["payment", "transfer"].includes(type) && { amount, currency: "EUR", payee_id: `p-${address}` }),
  });
}

async function scoreAlone(sent: Sent[]): Promise<string> {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  for (const { activities } of sent) {
    for (const activity of activities) {
      await store(lab.current, tenantId, [activity]);
      await drain(detector, tenantId);
    }
  }
  return tenantId;
}

// Everything that arrives at once is one batch.
async function scoreTogether(sent: Sent[]): Promise<string> {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  for (const { activities } of sent) {
    await store(lab.current, tenantId, activities);
    await drain(detector, tenantId);
  }
  return tenantId;
}

async function scoreAssessed(sent: Sent[]): Promise<{ tenantId: string; verdicts: Map<string, string> }> {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  const verdicts = new Map<string, string>();
  // Each answer to a repeated request, with the first answer.
  const again: [string, string][] = [];
  for (const { activities, step: how } of sent) {
    // Late activity must not be sorted among activity that is still waiting.
    if (how.isLate) await drain(detector, tenantId);
    if (how.isBurst && activities.every(({ origin }) => origin === "server")) {
      // All of it is sent in the same way. Otherwise one half could be scored before the other half arrives.
      const isAssessed = how.areAssessed[0] === true;
      if (isAssessed)
        await Promise.all(activities.map(async (each) => verdicts.set(each.activity_id, await assessing.assess(tenantId, each))));
      else await store(lab.current, tenantId, activities);
      if (!isAssessed || how.isLate) await drain(detector, tenantId);
      continue;
    }
    for (const [place, activity] of activities.entries()) {
      if (how.areAssessed[place] !== true || activity.origin === "browser") {
        await store(lab.current, tenantId, [activity]);
        if (activity.origin === "browser" || !how.areLeft || how.isLate) await drain(detector, tenantId);
        continue;
      }
      const reply = await assessing.assess(tenantId, activity);
      verdicts.set(activity.activity_id, reply);
      if (how.isResent) again.push([await assessing.assess(tenantId, activity), reply]);
    }
    if (how.isLate) await drain(detector, tenantId);
  }
  await drain(detector, tenantId);
  for (const { activities } of sent.filter(({ step: { isResent } }) => isResent)) {
    for (const activity of activities) {
      const known = verdicts.get(activity.activity_id);
      if (known === undefined) await store(lab.current, tenantId, [activity]);
      else again.push([await assessing.assess(tenantId, activity), known]);
    }
  }
  expect(await drain(detector, tenantId)).toBe(0);
  expect(again.map(([reply]) => reply)).toEqual(again.map(([, first]) => first));
  return { tenantId, verdicts };
}

async function decisionsOf(tenantId: string): Promise<Map<string, { score: number; log_odds: number }>> {
  const rows = await lab.current.database.query<{ activity_id: string; score: number; decision: string }>(
    statement("select activity_id, score, decision from activities where tenant_id = $1", [tenantId]),
  );
  return new Map(rows.map(({ activity_id, score, decision }) => [activity_id, { score, log_odds: JSON.parse(decision).l }]));
}

// Removes the differences that assessments are meant to make: their own table, the ids of their decisions, and the time when one
// was scored. Also removes the numbers of events, which depend on the batches, because a batch creates accounts before it opens
// cases.
async function storedBy(tenantId: string): Promise<Record<string, string[]>> {
  const all = await snapshot(lab.current, tenantId);
  const { assessments: _answers, linked: _ids, engine_turns: turns = [], events = [], ...rest } = all;
  return {
    ...rest,
    turns: turns.map((row) => row.replace(/"assessed_at": ("[^"]*"|null)/, "")),
    events: events.map((row) => row.replace(/"event_id": \d+/, "")).toSorted(),
  };
}

// A batch computes some facts for all of its events before others, so the order of their members differs.
function inOrder(stored: Record<string, string[]>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(stored).map(([table, rows]) => [table, rows.map(withReadFacts)]));
}

function withReadFacts(row: string): unknown {
  if (!row.includes('"facts":')) return row;
  const parsed = JSON.parse(row) as { facts: string };
  return { ...parsed, facts: JSON.parse(parsed.facts) as unknown };
}

test("assessments: if activities arrive one after the other, verdicts and everything stored are the same as without assessments", async () => {
  await assert(
    asyncProperty(array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const sent = historyOf(steps);
      const alone = await scoreAlone(sent);
      const { tenantId, verdicts } = await scoreAssessed(sent);
      const decisions = await decisionsOf(alone);
      for (const [id, reply] of verdicts) {
        const { score, log_odds, is_final, reasons } = JSON.parse(reply);
        expect({ id, score, log_odds, is_final }).toEqual({ id, ...decisions.get(id), is_final: true });
        expect(score < 3 || reasons.length > 0).toBe(true);
      }
      expect(await storedBy(tenantId)).toEqual(await storedBy(alone));
    }),
    // Shrinking would take minutes.
    { numRuns: 8, endOnFailure: true },
  );
});

// How far a page is believed does depend on what servers report in the same batch.
const ofServers = step.map((each) => ({ ...each, events: each.events.map((one) => ({ ...one, isPage: false })) }));

test("batches: what is stored about activity from servers does not depend on how it is divided into batches", async () => {
  await assert(
    asyncProperty(array(ofServers, { minLength: 3, maxLength: 8 }), async (steps) => {
      const sent = historyOf(steps);
      const [together, alone] = [await scoreTogether(sent), await scoreAlone(sent)];
      expect(inOrder(await storedBy(together))).toEqual(inOrder(await storedBy(alone)));
    }),
    { numRuns: 8, endOnFailure: true },
  );
});
