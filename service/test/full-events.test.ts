import type { Rule } from "@casehound/client";
import { expect, test } from "vitest";
import { readFullEvents } from "../src/db/full-events.ts";
import { appendEvents } from "../src/db/events.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService();

type Feed = { events: LoggedEvent[]; next_after: number };

async function read(tenant: TestTenant, query = "", token = tenant.token): Promise<Feed> {
  const answer = await tenant.call("GET", `/events?${query}`, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

test("GET events 200: each event includes the whole case, account or rule in its current state", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  await tenant.put(case_id, { status: "CLOSED", case_version: 1 });
  const { rules }: { rules: Rule[] } = (await tenant.call("GET", "/rules")).json.data;
  const [rule] = rules;
  if (!rule) throw new Error("a tenant without rules");
  const { name, expression, sentence, label, weight, about, rule_version } = rule;
  const change = { name, expression, sentence, label, weight, about, rule_version, state: "off" };
  expect((await tenant.call("PUT", `/rules/${rule.rule_id}`, { body: change })).status).toBe(200);
  const { events } = await read(tenant);
  const found = await tenant.read(case_id);
  const account = (await tenant.call("GET", "/enduseraccounts/user-1")).json.data;
  expect(
    events.map(({ type, current }) => [type, current?.["case_version"] ?? current?.["rule_id"] ?? current?.["created_at"]]),
  ).toEqual([
    ["account.created", account["created_at"]],
    ["case.opened", 2],
    ["case.closed", 2],
    ["rule.changed", rule.rule_id],
  ]);
  expect(events[2]?.current).toEqual(found);
  expect(events[0]?.current).toEqual(account);
});

test("GET events 200: a resource that the caller may not read, or that no longer exists, is left out", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("user-1");
  const few = await read(tenant, "", await tenant.mint(["read:events"]));
  expect(few.events.map(({ type, current }) => [type, current])).toEqual([
    ["account.created", undefined],
    ["case.opened", undefined],
  ]);
  expect((await tenant.call("DELETE", "/enduseraccounts/user-1")).status).toBe(204);
  const { events } = await read(tenant);
  expect(JSON.stringify(events)).not.toContain("user-1");
  expect(events.find(({ type }) => type === "account.created")?.current).toBeUndefined();
});

test("GET events 200: a page that would become too long ends earlier, and the next one continues there", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  const text = JSON.stringify(await tenant.read(case_id));
  const count = Math.ceil(2_500_000 / text.length);
  const occurred_at = "2026-11-15T09:30:00.000Z";
  const again = {
    type: "case.evidence_added" as const,
    occurred_at,
    actor: "system",
    resource: { type: "case" as const, id: case_id },
  };
  const database = service.current.database;
  await database.transaction((tx) =>
    appendEvents(
      tx,
      tenant.tenantId,
      Array.from({ length: count }, () => again),
    ),
  );
  const scopes = new Set(["read:case"]);
  const seen: number[] = [];
  let pages = 0;
  for (let after = 0; ; pages++) {
    const page = await readFullEvents(database, tenant.tenantId, { after, limit: 1_000_000, scopes });
    if (page.next_after === after) break;
    expect(page.events.join(",").length).toBeLessThan(2_100_000);
    seen.push(...page.events.map((event) => (JSON.parse(event) as LoggedEvent).event_id));
    after = page.next_after;
  }
  expect(pages).toBe(2);
  expect(seen).toEqual(Array.from({ length: count + 2 }, (_, index) => index + 1));
});
