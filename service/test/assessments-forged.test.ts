import { array, assert, asyncProperty, constantFrom, integer, record, type Arbitrary } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { AssessLab } from "./assess-lab.ts";
import { activityOf, drain, iso, labDetector, labNowMs, newTenant, store, useLab, type Sketched } from "./engine-lab.ts";
import { landEnrichment } from "./engine-story.ts";

const lab = useLab();
const enrichment = landEnrichment();
let assessing: AssessLab;
beforeAll(async () => {
  assessing = new AssessLab(labDetector(lab.current.database, { enrichment }));
  await assessing.start();
});
afterAll(() => assessing.stop());

const hourMs = 60 * 60_000;
const owner = { website_account_id: "u-1", device_id: "d-owner", ip: "10.0.0.5" };
const thief = { website_account_id: "u-1", device_id: "d-thief", ip: "10.2.9.9", session_id: "s-thief" };

// The owner's log-ins over a month, as the tenant's server reports them.
function pastOf(): RecordedActivity[] {
  return Array.from({ length: 25 }, (_, day) => {
    const at = labNowMs - (26 - day) * 24 * hourMs;
    return activityOf({ type: "login_succeeded", occurred_at: iso(at), ...owner, session_id: `s-${day}` });
  });
}

const takeover: Sketched[] = [
  { type: "login_succeeded", ...thief },
  { type: "password_changed", ...thief },
  { type: "transfer", ...thief, amount: 900, currency: "EUR", payee_id: "p-mule" },
];

type Forged = {
  type: string;
  account: string;
  device: string;
  address: string;
  session: string;
  hoursAgo: number;
  amount: number;
};

// Anything that a page can claim, about any account and any device, from addresses that the forger has.
const forged: Arbitrary<Forged> = record({
  type: constantFrom("login_succeeded", "login_failed", "payment", "page_view", "password_changed", "signup"),
  account: constantFrom("u-1", "u-2", "u-3", "u-4"),
  device: constantFrom("d-thief", "d-forger", "d-owner"),
  address: constantFrom("10.2.9.9", "10.2.9.10", "10.1.1.1"),
  session: constantFrom("s-thief", "s-forged"),
  hoursAgo: integer({ min: 0, max: 500 }),
  amount: integer({ min: 1, max: 100_000 }),
});

// Assesses the takeover after pages have made these claims. Returns the verdicts.
async function verdictsAfter(claims: Forged[]): Promise<{ action: string; log_odds: number | null }[]> {
  const tenantId = await newTenant(lab.current);
  const detector = labDetector(lab.current.database, { enrichment });
  await store(lab.current, tenantId, pastOf());
  await drain(detector, tenantId);
  const events = claims.map(({ type, account, device, address, session, hoursAgo, amount }) =>
    activityOf({
      type,
      origin: "browser",
      occurred_at: iso(labNowMs - hoursAgo * hourMs),
      website_account_id: account,
      device_id: device,
      ip: address,
      session_id: session,
      attributes: { amount },
      browser: { is_webdriver: false },
    }),
  );
  if (events.length > 0) await store(lab.current, tenantId, events);
  await drain(detector, tenantId);
  const verdicts = [];
  for (const [minute, sketched] of takeover.entries()) {
    const occurred_at = iso(labNowMs - 600_000 + minute * 60_000);
    const { action, log_odds, is_final } = await assessing.verdict(tenantId, activityOf({ ...sketched, occurred_at }));
    expect(is_final).toBe(true);
    verdicts.push({ action, log_odds });
  }
  return verdicts;
}

test("assessments: claims of unverified pages change the log-odds of a takeover by less than 0.1, and never make the action milder", async () => {
  const alone = await verdictsAfter([]);
  const severity = ["ALLOW", "CHALLENGE", "BLOCK"];
  expect(alone.some(({ action }) => action !== "ALLOW")).toBe(true);
  await assert(
    asyncProperty(array(forged, { minLength: 1, maxLength: 60 }), async (claims) => {
      const steered = await verdictsAfter(claims);
      for (const [index, { action, log_odds }] of steered.entries()) {
        const before = alone[index];
        expect(Math.abs((log_odds ?? 0) - (before?.log_odds ?? 0))).toBeLessThan(0.1);
        expect(severity.indexOf(action)).toBeGreaterThanOrEqual(severity.indexOf(before?.action ?? ""));
      }
    }),
    { numRuns: 8 },
  );
});
