import { eventTypes } from "@casehound/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { EventFeed } from "../src/api/event-feed.ts";
import { appendEvents, listEventsAfter } from "../src/db/events.ts";
import type { DomainEvent, LoggedEvent } from "../src/domain/event.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { StreamReader } from "./stream.ts";

const service = useService();

type Feed = { events: LoggedEvent[]; next_after: number };
type History = { events: LoggedEvent[]; next_cursor: string | null };

async function read(tenant: TestTenant, query = ""): Promise<Feed> {
  const answer = await tenant.call("GET", `/events?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function history(tenant: TestTenant, path: string): Promise<History> {
  const answer = await tenant.call("GET", path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

function made(id: string): DomainEvent {
  return {
    type: "account.created",
    occurred_at: "2026-11-15T09:30:00.000Z",
    actor: "x",
    resource: { type: "end_user_account", id },
  };
}

test("GET events 200: lists what happened to a case and its account, in order, with the actor", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  await tenant.put(case_id, { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE" });
  await tenant.put(case_id, { status: "OPEN", case_version: 2 });
  const { events, next_after } = await read(tenant);
  expect(events.map(({ event_id, type, actor, resource }) => [event_id, type, actor, resource.version])).toEqual([
    [1, "account.created", "system", undefined],
    [2, "case.opened", "system", 1],
    [3, "case.closed", tenant.clientId, 2],
    [4, "case.reopened", tenant.clientId, 3],
  ]);
  expect(events[2]?.data).toEqual({ disposition: "FALSE_POSITIVE" });
  expect(next_after).toBe(4);
  expect(await read(tenant, "after=1&limit=2")).toEqual({ events: events.slice(1, 3), next_after: 3 });
  expect(await read(tenant, "after=4")).toEqual({ events: [], next_after: 4 });
});

test("GET events 200: with wait it responds as soon as there is an event", async () => {
  const tenant = await TestTenant.create(service.current);
  const waiting = read(tenant, "wait=30");
  await service.current.database.transaction((tx) => appendEvents(tx, tenant.tenantId, [made("user-1")]));
  expect((await waiting).next_after).toBe(1);
});

test("GET events 200: a waiting client that disconnects frees its slot", async () => {
  const tenant = await TestTenant.create(service.current);
  const leaving = new AbortController();
  const url = `${service.current.url}/v2/${tenant.slug}/events?wait=30&after=0`;
  const headers = { authorization: `Bearer ${tenant.token}` };
  // One more than a client may have waiting.
  const waiting = Array.from({ length: 31 }, () => fetch(url, { headers, signal: leaving.signal }).then(({ status }) => status));
  expect(await Promise.race(waiting)).toBe(429);
  leaving.abort();
  await Promise.allSettled(waiting);
  await vi.waitFor(async () => expect((await tenant.call("GET", "/events?wait=1&after=0")).status).toBe(200), 5_000);
});

test("GET events, stream 200: events about people and clients are shown only to callers who may read them", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/users", { body: { email: "ada@example.org", name: "Ada", role: "lead" } });
  await tenant.call("POST", "/clients", { body: { scopes: ["read:cases"] } });
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "user-1" } });
  const typesFor = async (...scopes: string[]) => {
    const token = await tenant.mint(["read:events", ...scopes]);
    const answer = await tenant.call("GET", "/events", { token });
    const { events, next_after } = answer.json.data as Feed;
    expect(next_after).toBe(3);
    const url = `http://127.0.0.1:${service.current.port}/v2/${tenant.slug}/events/stream?after=0&wait=0`;
    const reader = await StreamReader.open(url, { authorization: `Bearer ${token}` });
    const told = (await reader.rest()).flatMap(({ event }) => event ?? []);
    const types = events.map(({ type }) => type);
    expect(told).toEqual(types);
    return types;
  };
  expect(await typesFor()).toEqual(["account.created"]);
  expect(await typesFor("read:users")).toEqual(["user.invited", "account.created"]);
  expect(await typesFor("read:users", "read:clients")).toEqual(["user.invited", "client.created", "account.created"]);
});

test("GET events 400: a position beyond the end of the log is rejected, because a client waiting there would miss events", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase();
  const { next_after: last } = await read(tenant);
  expect((await tenant.call("GET", `/events?after=${last}`)).status).toBe(200);
  for (const query of [`after=${last + 1}`, `after=${last + 1}&wait=30`]) {
    const { status, json } = await tenant.call("GET", `/events?${query}`);
    expect({ status, detail: json.detail }).toMatchObject({
      status: 400,
      detail: expect.stringContaining(`ends at event ${last}`),
    });
  }
});

test("GET events 400: a position, limit or wait out of range is rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const query of ["after=-1", "after=1.5", "limit=0", "limit=1001", "wait=31", "wait=x"]) {
    expect(expectProblem(await tenant.call("GET", `/events?${query}`), 400, "bad-request").detail).toContain("parameter");
  }
});

test("events: a reader that has seen a number never finds a smaller one later, however transactions interleave", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  const feed = new EventFeed(database, { pollMs: 1 });
  const ending = new AbortController();
  onTestFinished(() => (ending.abort(), feed.stop()));
  const told: number[] = [];
  feed.follow(
    tenant.tenantId,
    { position: 0, tell: (events) => void told.push(...events.map(({ event }) => event.event_id)) },
    ending.signal,
  );
  const seen: number[] = [];
  const done = new AbortController();
  const reading = (async () => {
    while (!done.signal.aborted) {
      const events = await listEventsAfter(database, tenant.tenantId, { after: seen.at(-1) ?? 0, limit: 50 });
      seen.push(...events.map((event) => event.event_id));
    }
  })();
  // Each holds its numbers for a while before it commits, and every fourth rolls back.
  const writes = Array.from({ length: 60 }, (_, index) =>
    database
      .transaction(async (tx) => {
        await appendEvents(tx, tenant.tenantId, [made(`a-${index}`), made(`b-${index}`)]);
        for (let turn = 0; turn < index % 5; turn++) await findNothing(tx);
        if (index % 4 === 0) throw new Error("taken back");
      })
      .catch((error: Error) => error.message),
  );
  const outcomes = await Promise.all(writes);
  const count = 2 * outcomes.filter((outcome) => outcome === undefined).length;
  const all = Array.from({ length: count }, (_, index) => index + 1);
  await expect.poll(() => seen.at(-1)).toBe(count);
  await expect.poll(() => told.at(-1)).toBe(count);
  done.abort();
  await reading;
  expect(count).toBeGreaterThan(20);
  expect(seen).toEqual(all);
  expect(told).toEqual(all);
});

function findNothing(tx: Parameters<typeof listEventsAfter>[0]): Promise<LoggedEvent[]> {
  return listEventsAfter(tx, "00000000-0000-0000-0000-000000000000", { after: 0, limit: 1 });
}

test("GET case events 200: returns the audit trail, newest first, page by page", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  for (const version of [1, 2, 3]) {
    await tenant.put(case_id, { status: version % 2 === 1 ? "CLOSED" : "OPEN", case_version: version });
  }
  const path = `/cases/${case_id}/events`;
  const { events } = await history(tenant, path);
  expect(events.map((event) => event.type)).toEqual(["case.closed", "case.reopened", "case.closed", "case.opened"]);
  const first = await history(tenant, `${path}?limit=3`);
  expect(first.events).toEqual(events.slice(0, 3));
  const second = await history(tenant, `${path}?limit=3&cursor=${first.next_cursor}`);
  expect(second).toEqual({ events: events.slice(3), next_cursor: null });
  const other = await tenant.openCase("user-2");
  expectProblem(await tenant.call("GET", `/cases/${other.case_id}/events?cursor=${first.next_cursor}`), 400, "bad-request");
});

test("GET account events 200: shows who set which flag; after an erasure only the pseudonym leads to the events", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  await tenant.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: true, crm_account_id: "CRM-9" } });
  await tenant.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: false, is_fraudulent: true } });
  const { events } = await history(tenant, "/enduseraccounts/user-1/events");
  expect(events.map(({ type, actor, data }) => [type, actor, data])).toEqual([
    ["account.updated", tenant.clientId, { is_blocked: false, is_fraudulent: true }],
    ["account.updated", tenant.clientId, { is_blocked: true }],
    ["account.created", "system", undefined],
  ]);
  await tenant.call("DELETE", "/enduseraccounts/user-1");
  expectProblem(await tenant.call("GET", "/enduseraccounts/user-1/events"), 404, "item-not-found");
  const { website_account_id: pseudonym } = await tenant.read(case_id);
  const after = await history(tenant, `/enduseraccounts/${pseudonym}/events`);
  expect(after.events.map((event) => event.type)).toEqual(["account.erased", ...events.map((event) => event.type)]);
  const trail = await history(tenant, `/cases/${case_id}/events`);
  expect(trail.events[0]).toMatchObject({ type: "case.pseudonymised", actor: tenant.clientId, resource: { version: 2 } });
  expect(JSON.stringify([after, trail, await read(tenant)])).not.toContain("user-1");
});

test("GET account events 404: an account id equal to a case id shows no events of the case", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const answer = await tenant.call("GET", `/enduseraccounts/${case_id}/events`);
  expect(expectProblem(answer, 404, "item-not-found").detail).toBe(`End-user account not found: ${case_id}`);
  expectProblem(await tenant.call("GET", "/enduseraccounts/UNKNOWN/events"), 404, "item-not-found");
});

test("GET stream 200: a reader may name every type of event", async () => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("GET", `/events/stream?wait=0&types=${eventTypes.join(",")}`);
  expect(answer.status, answer.text).toBe(200);
});
