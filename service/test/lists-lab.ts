import { expect } from "vitest";
import type { Queryable } from "../src/db/postgres/database.ts";
import { lockSettings } from "../src/db/rules.ts";
import { insertList, raiseListsRevision, saveEntries } from "../src/db/value-lists.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { keyOf, type Entry, type List, type NewEntry, type NewList } from "../src/domain/list.ts";
import type { TestTenant } from "./harness.ts";
import type { DetectionTenant } from "./detection.ts";

export async function makeList(tenant: TestTenant, list: NewList, values: (string | NewEntry)[] = []): Promise<List> {
  const answer = await tenant.call("POST", "/lists", { body: list });
  expect(answer.status, answer.text).toBe(201);
  if (values.length > 0) await addEntries(tenant, list.name, values);
  return answer.json.data;
}

export async function addEntries(tenant: TestTenant, name: string, values: (string | NewEntry)[]): Promise<void> {
  const entries = values.map((value) => (typeof value === "string" ? { value } : value));
  const answer = await tenant.call("POST", `/lists/${name}/entries`, { body: { entries } });
  expect(answer.status, answer.text).toBe(200);
}

export async function readList(tenant: TestTenant, name: string): Promise<List> {
  return (await tenant.call("GET", `/lists/${name}`)).json.data;
}

export async function entriesOf(tenant: TestTenant, name: string, query = ""): Promise<Entry[]> {
  const page: { entries: Entry[] } = (await tenant.call("GET", `/lists/${name}/entries${query}`)).json.data;
  return page.entries;
}

export async function eventsOf(tenant: TestTenant): Promise<LoggedEvent[]> {
  const page: { events: LoggedEvent[] } = (await tenant.call("GET", "/events")).json.data;
  return page.events;
}

const stamps = {
  created_at: "2026-11-15T00:00:00.000Z",
  created_by: "x",
  updated_at: "2026-11-15T00:00:00.000Z",
  updated_by: "x",
};

// Stores a list of a tenant whose engine the test runs.
export async function storeList(
  { database, tenantId }: Pick<DetectionTenant, "database" | "tenantId">,
  list: NewList,
  values: (string | NewEntry)[],
): Promise<void> {
  const now = new Date().toISOString();
  await database.transaction(async (tx: Queryable) => {
    await lockSettings(tx, tenantId, now);
    await insertList(tx, tenantId, { label: "Organic", description: "", ...list, ...stamps });
    await raiseListsRevision(tx, tenantId);
    const entries = values.map((given) => {
      const { value, expires_at = null } = typeof given === "string" ? { value: given } : given;
      const keyed = keyOf(list.type, value);
      if ("problem" in keyed) throw new Error(`${value} ${keyed.problem}`);
      return { key: keyed.key, value, expires_at, reason: null, from_case_id: null };
    });
    await saveEntries(tx, tenantId, { list_name: list.name, now, actor: "somebody", entries });
  });
}
