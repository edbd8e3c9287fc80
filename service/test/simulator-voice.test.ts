import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { identityCheck } from "../src/api/tokens/identity-token.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { readEvent } from "../src/domain/clickstream.ts";
import { attackKinds, type BrowserRequest, type Delivery } from "@casehound/simulator/delivery";
import { live } from "@casehound/simulator/life";
import { openShop, simulate, type SimulationOptions } from "@casehound/simulator/simulate";
import type { Voice } from "@casehound/simulator/voice";

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 5);
const origin = "https://shop.example";
const secret = "idsec_of-the-test";
const options: SimulationOptions = {
  seed: "voice",
  startMs,
  days: 5,
  users: 60,
  attacks: Object.fromEntries(attackKinds.map((kind) => [kind, 1])),
  appKey: "key",
  origin,
};

function deliveriesOf(voice: Voice): Delivery[] {
  return [...simulate({ ...options, voice })];
}

function digestOf(deliveries: Delivery[]): string {
  const hash = createHash("sha256");
  for (const delivery of deliveries) hash.update(JSON.stringify(delivery));
  return hash.digest("hex");
}

const requestsOf = (deliveries: Delivery[]): BrowserRequest[] => deliveries.filter((each) => each.kind === "browser");

// Reads them as the collector does.
function activitiesOf(deliveries: Delivery[]): RecordedActivity[] {
  const tenant = { tenant_id: "t", slug: "shop", app_key: "key", url_parameters: [] };
  return requestsOf(deliveries).flatMap(({ at_ms, path, body }) => {
    const received_at = new Date(at_ms).toISOString();
    const uploaded_ms = Number(new URL(path, origin).searchParams.get("upload_timestamp"));
    const checkIdentity = identityCheck([secret], received_at);
    const delivery = { tenant, received_at, uploaded_ms, isHashWrong: false, checkIdentity, agent: {} };
    // We know the format of what a simulated browser sends.
    return (JSON.parse(body) as unknown[]).map((event) => {
      const read = readEvent(event, delivery);
      if (typeof read === "string") throw new Error(`${read}: ${JSON.stringify(event)}`);
      return read;
    });
  });
}

const signed = deliveriesOf({ kind: "signed", secret });
const snippet = deliveriesOf({ kind: "snippet" });
const signedActivities = activitiesOf(signed);
const reports = ["login_succeeded", "login_failed", "signup", "payment", "transfer", "password_changed", "logout"];

test("voice: by default a shop's servers report", () => {
  expect(digestOf(deliveriesOf({ kind: "server" }))).toBe(digestOf([...simulate(options)]));
});

test.each([
  { kind: "signed", deliveries: signed, activities: signedActivities },
  { kind: "snippet", deliveries: snippet, activities: activitiesOf(snippet) },
])(
  "voice: in a shop of kind $kind only pages report, with event names that the collector knows",
  ({ deliveries, activities }) => {
    expect(deliveries.filter(({ kind }) => kind === "server")).toEqual([]);
    const types = new Set(activities.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining([...reports, "custom:coupon_redeemed"]));
    expect(types).not.toContain("fraud_report");
  },
);

test("voice: events of a signed visit verify for the logged-in account, and a failed log-in is never signed", () => {
  const failed = signedActivities.filter(({ type }) => type === "login_failed");
  expect(failed.some((each) => each.website_account_id !== undefined)).toBe(true);
  expect(failed.filter(({ identity }) => identity !== undefined)).toEqual([]);
  const entered = signedActivities.filter(({ type }) => type === "login_succeeded" || type === "signup");
  expect(entered.length).toBeGreaterThan(100);
  const bad = signedActivities.filter(({ identity }) => identity === "bad-token");
  // A browser keeps what it could not send until the next visit, when the token has expired.
  const late = bad.filter(({ occurred_at, received_at }) => Date.parse(received_at) - Date.parse(occurred_at) > 3_600_000);
  expect(bad).toEqual(late);
  expect(entered.filter((each) => each.identity !== "signed" && !bad.includes(each))).toEqual([]);
});

test("voice: a browser that still names its user is signed only if the shop still knows that user", () => {
  const seen = signedActivities.filter(({ type, website_account_id: id }) => type === "page_view" && id !== undefined);
  const shares = Object.groupBy(seen, ({ identity }) => identity ?? "none");
  expect(shares.signed?.length).toBeGreaterThan(500);
  expect(shares.none?.length).toBeGreaterThan(20);
});

test("voice: a thief who is logged in gets a token like any user", () => {
  const thieves = new Set(
    signed.flatMap((each) => (each.kind === "truth" && each.session.kind === "takeover_naive" ? each.session.session_id : [])),
  );
  const stolen = signedActivities.filter(({ type, session_id }) => type === "login_succeeded" && thieves.has(session_id ?? ""));
  expect(stolen.map(({ identity }) => identity)).toEqual(["signed"]);
});

test("voice: a snippet-only shop sends no token", () => {
  const bodies = requestsOf(snippet).map(({ body }) => body);
  expect(bodies.filter((body) => body.includes("casehound_identity"))).toEqual([]);
});

test("voice: a history without browsers contains only the reports", () => {
  const { shop } = openShop({ ...options, voice: { kind: "snippet" } });
  shop.hasBrowsers = false;
  const toMs = startMs + options.days * dayMs;
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs: startMs, toMs, haste: 1, hasNights: true }));
  const history = activitiesOf([...shop.run({ untilMs: Number.POSITIVE_INFINITY, batchMs: 1000 })]);
  const types = new Set(history.map(({ type }) => type));
  expect([...types]).toEqual(expect.arrayContaining(["login_succeeded", "payment"]));
  expect([...types].filter((type) => type === "page_view" || type.startsWith("custom:"))).toEqual([]);
});
