import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { CasehoundClient, type FollowedEvent } from "@casehound/client";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { EventFeed, type FeedLimits } from "../src/api/event-feed.ts";
import { openStream } from "../src/api/event-stream.ts";
import { appendEvents } from "../src/db/events.ts";
import { saveRevoked } from "../src/db/tenants.ts";
import type { DomainEvent } from "../src/domain/event.ts";
import { Failure } from "../src/domain/failure.ts";
import { startService } from "../src/service.ts";
import { TestTenant, expectProblem, testConfig, useService } from "./harness.ts";
import { StreamReader, type Message } from "./stream.ts";

const service = useService({ roles: new Set(["api"]) });
const open: StreamReader[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function follow(tenant: TestTenant, query = "", headers: Record<string, string> = {}): Promise<StreamReader> {
  const url = `http://127.0.0.1:${tenant.service.port}/v2/${tenant.slug}/events/stream${query}`;
  const reader = await StreamReader.open(url, { authorization: `Bearer ${tenant.token}`, ...headers });
  open.push(reader);
  return reader;
}

function made(index: number): DomainEvent {
  const resource = { type: "end_user_account" as const, id: `user-${index}` };
  return {
    type: index % 2 === 0 ? "account.created" : "account.updated",
    occurred_at: "2026-11-15T09:30:00.000Z",
    actor: "x",
    resource,
  };
}

async function append(tenant: TestTenant, count: number, from = 1): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => made(from + index));
  await tenant.service.database.transaction((tx) => appendEvents(tx, tenant.tenantId, events));
}

function ids(messages: Message[]): number[] {
  return messages.filter((each) => each.data !== undefined).map((each) => Number(each.id));
}

test("GET stream 200: without a position it starts now, and sends each change as the list shows it", async () => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 3);
  const reader = await follow(tenant);
  expect(reader.response.headers.get("content-type")).toBe("text/event-stream");
  expect(reader.response.headers.get("cache-control")).toBe("no-store");
  expect(await reader.next()).toEqual({ retry: "2000", id: "3" });
  const account = "user\n\r\u2028<b>";
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: account } });
  const path = `/enduseraccounts/${encodeURIComponent(account)}`;
  await tenant.call("PUT", path, { body: { is_blocked: true } });
  const first = await reader.next();
  expect(first).toMatchObject({ id: "4", event: "account.created" });
  const second = await reader.event();
  expect(second).toEqual({
    event_id: 5,
    type: "account.updated",
    occurred_at: expect.any(String),
    actor: tenant.clientId,
    resource: { type: "end_user_account", id: account },
    data: { is_blocked: true },
  });
  const listed = await tenant.call("GET", "/events?after=3", { token: await tenant.mint(["read:events"]) });
  expect(listed.json.data).toEqual({ events: [JSON.parse(first?.data ?? ""), second], next_after: 5 });
});

test("GET stream 200: Last-Event-ID takes precedence over `after`, and nothing is missed or repeated", async () => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 450);
  const reader = await follow(tenant, "?after=440&wait=0", { "last-event-id": "7" });
  expect(ids(await reader.rest())).toEqual(Array.from({ length: 443 }, (_, index) => 8 + index));
  const later = await follow(tenant, "?after=448&wait=0");
  expect(ids(await later.rest())).toEqual([449, 450]);
});

function to303(from: number): number[] {
  return Array.from({ length: 304 - from }, (_, index) => from + index);
}

test("GET stream 200: a reader that starts further back delays no other, and each gets everything in order", async () => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 300);
  const readers = await Promise.all([
    follow(tenant),
    follow(tenant, "?after=0"),
    follow(tenant, "?after=299"),
    follow(tenant, "?after=150"),
  ]);
  await append(tenant, 3, 301);
  const seen = await Promise.all(
    readers.map(async (reader) => {
      const told: number[] = [];
      while (told.at(-1) !== 303) told.push((await reader.event()).event_id);
      return told;
    }),
  );
  expect(seen).toEqual([to303(301), to303(1), to303(300), to303(151)]);
});

test.each([
  ["the client missed too many events", "?after=5&wait=0"],
  ["the position is after the end of the log", "?after=2000&wait=0"],
])("GET stream 200: if %s, a reset is sent and the stream continues from the end", async (_why, query) => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 1100);
  const messages = await (await follow(tenant, query)).rest();
  expect(messages).toEqual([
    { retry: "2000", id: "1100" },
    { event: "reset", id: "1100", data: '{"last_event_id":1100}' },
  ]);
});

test("GET stream 200: only the requested types are sent", async () => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 6);
  const reader = await follow(tenant, "?after=0&types=account.updated,case.opened&wait=0");
  expect(ids(await reader.rest())).toEqual([1, 3, 5]);
});

test("GET stream 400: an invalid Last-Event-ID, position, type list or wait is rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const id of ["x", "-1", "1.5", "0x10", "1 2", "9".repeat(16)]) {
    expectProblem(await tenant.call("GET", "/events/stream", { headers: { "last-event-id": id } }), 400, "bad-request");
  }
  for (const query of ["after=-1", "after=x", "types=a", "types=a.b,", "wait=3601", "wait=-1"]) {
    expect(expectProblem(await tenant.call("GET", `/events/stream?${query}`), 400, "bad-request").detail).toContain("parameter");
  }
});

test("GET stream: another tenant's changes are never sent", async () => {
  const [one, two] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const reader = await follow(one, "?after=0");
  await append(two, 5);
  await append(one, 1, 77);
  expect(await reader.event()).toMatchObject({ event_id: 1, resource: { id: "user-77" } });
});

test("GET stream: events of an erased account show its pseudonym, including earlier ones", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `gone-${randomUUID()}`;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: account } });
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  const told = await (await follow(tenant, "?after=0&wait=0")).rest();
  expect(told.filter((each) => each.data !== undefined).map((each) => each.event)).toEqual(["account.created", "account.erased"]);
  expect(JSON.stringify(told)).not.toContain(account);
});

test("GET stream: it ends when its token expires and when its client is revoked", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await tenant.mint(undefined, 2);
  const reader = await follow(tenant, "", { authorization: `Bearer ${token}` });
  expect(await reader.rest()).toEqual([{ retry: "2000", id: "0" }]);
  const feed = new EventFeed(service.current.database);
  const beats = await serve(feed, tenant, { heartbeatMs: 10 });
  onTestFinished(() => feed.stop());
  await saveRevoked(service.current.database, { client_id: tenant.clientId, now: new Date().toISOString() });
  for (const message of (await beats.rest()).slice(1)) expect(message).toEqual({ comment: "still here", id: "0" });
});

type Serving = { heartbeatMs?: number; trustMs?: number; types?: string[] };

// Serves the stream from the test's own server, with a short heartbeat.
async function listen(
  feed: EventFeed,
  tenant: TestTenant,
  { heartbeatMs = 60_000, trustMs = 60_000, types }: Serving,
): Promise<number> {
  const isStillAllowed = async () => (await tenant.call("GET", "/events")).status === 200;
  const visit = { lastEventId: undefined, expiresAtMs: Date.now() + 60_000, isStillAllowed };
  const isWanted = (type: string) => types?.includes(type) ?? true;
  const { tenantId } = tenant;
  const server = createServer((_request, response) => {
    const options = { tenantId, reader: "ada", after: null, isWanted, waitMs: null, visit, heartbeatMs, trustMs };
    void openStream(feed, options).then(({ status, headers, stream }) => stream?.(response.writeHead(status, headers)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => server.close().closeAllConnections());
  // A TCP server's address is never a string.
  return (server.address() as AddressInfo).port;
}

async function serve(feed: EventFeed, tenant: TestTenant, serving: Serving): Promise<StreamReader> {
  const reader = await StreamReader.open(`http://127.0.0.1:${await listen(feed, tenant, serving)}/`, {});
  open.push(reader);
  return reader;
}

test("stream: a heartbeat moves the reader's position past events that it did not request", async () => {
  const tenant = await TestTenant.create(service.current);
  const feed = new EventFeed(service.current.database, { pollMs: 5 });
  const reader = await serve(feed, tenant, { heartbeatMs: 10, types: ["case.opened"] });
  await append(tenant, 4);
  const seen: Message[] = [];
  while (seen.at(-1)?.id !== "4") seen.push((await reader.next()) ?? {});
  expect(seen.filter((each) => each.data !== undefined)).toEqual([]);
  feed.stop();
});

test("stream: a reader that has lost its permission gets nothing more, even before the next heartbeat", async () => {
  const tenant = await TestTenant.create(service.current);
  const feed = new EventFeed(service.current.database, { pollMs: 5 });
  onTestFinished(() => feed.stop());
  const reader = await serve(feed, tenant, { trustMs: -1 });
  await append(tenant, 1);
  const seen: Message[] = [];
  while (seen.at(-1)?.data === undefined) seen.push((await reader.next()) ?? {});
  tenant.token = await tenant.mint(["read:case"]);
  await append(tenant, 1, 2);
  expect(await reader.next()).toBeNull();
});

test("stream: a client that does not read is disconnected, and only a bounded amount is buffered for it", async () => {
  const tenant = await TestTenant.create(service.current);
  const feed = new EventFeed(service.current.database, { pollMs: 5, readersOfTenantMax: 1 });
  onTestFinished(() => feed.stop());
  const socket = connect(await listen(feed, tenant, {}), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.pause();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  expect(() => feed.enter({ tenantId: tenant.tenantId, reader: "bob" }, () => {})).toThrow(Failure);
  const events = Array.from({ length: 50 }, (_, index): DomainEvent => ({ ...made(index), actor: "x".repeat(20_000) }));
  for (let round = 0; round < 40; round++) {
    await service.current.database.transaction((tx) => appendEvents(tx, tenant.tenantId, events));
  }
  // Its slot is free as soon as it is disconnected.
  await vi.waitFor(() => feed.enter({ tenantId: tenant.tenantId, reader: "bob" }, () => {}), 20_000);
  let received = 0;
  socket.on("data", (chunk) => (received += chunk.length)).resume();
  await closed;
  // 40 MB were to be sent. What arrived is what the kernel and the buffer limit held.
  expect(received).toBeLessThan(30_000_000);
});

test("client: follows the changes from the given position, and stops on its signal", async () => {
  const tenant = await TestTenant.create(service.current);
  await append(tenant, 3);
  const baseUrl = `http://127.0.0.1:${service.current.port}`;
  const client = new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials: { token: tenant.token } });
  const leaving = new AbortController();
  const seen: FollowedEvent[] = [];
  for await (const event of client.follow({ after: 1, signal: leaving.signal })) {
    seen.push(event);
    if (seen.length === 2) await append(tenant, 1, 4);
    if (seen.length === 3) leaving.abort();
  }
  expect(seen).toMatchObject([{ event_id: 2 }, { event_id: 3 }, { event_id: 4, resource: { id: "user-4" } }]);
  const resetting = client.follow({ after: 99 });
  expect((await resetting.next()).value).toEqual({ type: "reset", last_event_id: 4 });
  await resetting.return(undefined);
  const refused = new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials: { token: await tenant.mint(["read:case"]) } });
  await expect(refused.follow().next()).rejects.toThrow("read:events");
});

const limits: Partial<FeedLimits>[] = [{ readersMax: 2 }, { readersOfTenantMax: 2 }, { placesMax: 2 }];

test.each(limits)("stream 429: no more than the limit at once, and a slot that was left is free again %o", async (limit) => {
  const tenant = await TestTenant.create(service.current);
  const feed = new EventFeed(service.current.database, limit);
  onTestFinished(() => feed.stop());
  const enter = (reader = "bob") => feed.enter({ tenantId: tenant.tenantId, reader }, () => {});
  const places = [enter(), enter()];
  const refusal = () => enter();
  expect(refusal).toThrow(expect.objectContaining({ code: "rate-limited", headers: { "retry-after": "5" } }));
  places[0]?.leave();
  places[0]?.leave();
  enter();
  expect(refusal).toThrow(Failure);
});

test("stream: the streams of one person leave slots for others of the tenant", async () => {
  const tenant = await TestTenant.create(service.current);
  const feed = new EventFeed(service.current.database);
  onTestFinished(() => feed.stop());
  const enter = (reader: string) => feed.enter({ tenantId: tenant.tenantId, reader }, () => {});
  for (let place = 0; place < 30; place++) enter("bob");
  expect(() => enter("bob")).toThrow(Failure);
  expect(() => enter("ada")).not.toThrow();
});

test("stream: stopping the service ends every stream and every wait at once", async () => {
  const own = await startService(testConfig({ roles: new Set(["api"]) }));
  const tenant = await TestTenant.create(own);
  const reader = await follow(tenant);
  await reader.next();
  const begun = vi.spyOn(EventFeed.prototype, "wait");
  const waiting = tenant.call("GET", "/events?wait=30");
  await vi.waitFor(() => expect(begun).toHaveBeenCalled(), 20_000);
  await own.stop();
  expect(await reader.rest()).toEqual([]);
  expect((await waiting).json.data).toEqual({ events: [], next_after: 0 });
});
