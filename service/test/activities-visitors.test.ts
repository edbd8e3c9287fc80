import { expect, test } from "vitest";
import { TestTenant } from "./harness.ts";
import { listWaiting } from "./inbox.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const common = { type: "page_view", occurred_at: "2026-05-01T10:00:00.000Z" };

test("POST activities 202: a visitor's long user agent is cut between characters, and refuses nothing", async () => {
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
