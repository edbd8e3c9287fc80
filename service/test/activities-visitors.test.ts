import { expect, test } from "vitest";
import { TestTenant } from "./harness.ts";
import { listWaiting } from "./inbox.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const common = { type: "page_view", occurred_at: "2026-05-01T10:00:00.000Z" };

test("POST activities 202: a visitor's long user agent is cut between characters, and rejects nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const agents = ["M".repeat(1_024), "M".repeat(1_025), `${"M".repeat(1_023)}😀😀`, "😀".repeat(20_000)];
  const sent = agents.map((user_agent, n) => ({ ...common, activity_id: `agent-${n}`, user_agent }));
  const answer = await tenant.call("POST", "/activities", {
    body: { activities: [{ ...common, activity_id: "other" }, ...sent] },
  });
  expect(answer.json.data).toEqual({ accepted: 5, duplicates: 0 });
  const waiting = await listWaiting(service.current.database, tenant.tenantId);
  const kept = new Map(waiting.map(({ activity_id, user_agent }) => [activity_id, user_agent]));
  expect([0, 1, 2, 3].map((n) => kept.get(`agent-${n}`))).toEqual([
    "M".repeat(1_024),
    "M".repeat(1_024),
    `${"M".repeat(1_023)}😀`,
    "😀".repeat(1_024),
  ]);
});

const typedNames = [
  "UNKNOWN",
  ".",
  "..",
  "erased-019a8b1c-0000-7000-8000-000000000000",
  "",
  "x".repeat(513),
  "nul\0",
  "half \ud83d",
  "x".repeat(3_000),
  `${"x".repeat(999)}😀`,
];

// As in the guide for servers.
const clean = (text: string) => text.toWellFormed().replaceAll("\0", "").slice(0, 1_000).toWellFormed();

test("POST activities 202: a failed log-in for a typed name that is not an account is accepted without an account, whatever was typed", async () => {
  const tenant = await TestTenant.create(service.current);
  const activities = typedNames.map((name, n) => ({
    ...common,
    activity_id: `failed-${n}`,
    type: "login_failed",
    attributes: { email: clean(name) },
  }));
  const answer = await tenant.call("POST", "/activities", { body: { activities } });
  expect(answer.json.data).toEqual({ accepted: typedNames.length, duplicates: 0 });
});

test("POST activities 422: typed names that the guide warns of are rejected as account ids", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const name of typedNames.slice(0, 8)) {
    const activity = { ...common, activity_id: "failed", type: "login_failed", website_account_id: name };
    const { status } = await tenant.call("POST", "/activities", { body: { activities: [activity] } });
    expect(status, JSON.stringify(name)).toBe(422);
  }
});
