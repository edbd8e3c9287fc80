import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { TestTenant } from "./harness.ts";
import { Receiver } from "./webhook-receiver.ts";
import { close, deliveriesOf, shown, until, useWebhooks, type Kept } from "./webhook-rig.ts";

const { service, make, hurry } = useWebhooks("webhooks");

test("webhooks: changes are sent signed, in the form of the feed, with the whole resource", async () => {
  const made = await make();
  const { tenant, receiver, secret } = made;
  const opened = await tenant.openCase("someone");
  await close(tenant, opened.case_id);
  await until(() => expect(receiver.received.map(({ event }) => event.type)).toContain("case.closed"));
  for (const each of receiver.received) Receiver.verify(each, secret);
  const sent = receiver.received.find(({ event }) => event.type === "case.closed");
  const feed: { events: object[] } = (await tenant.call("GET", "/events")).json.data;
  expect(feed.events).toContainEqual(sent?.event);
  expect(sent?.event).toMatchObject({
    resource: { type: "case", id: opened.case_id, version: 2 },
    current: { status: "CLOSED" },
  });
  expect(sent?.event.current).toEqual(await tenant.read(opened.case_id));
  expect(sent?.headers["content-type"]).toBe("application/json");
  expect(() => Receiver.verify({ ...receiver.at(0), text: "{}" }, secret)).toThrow(/signature/i);
  await until(async () => expect(await shown(made)).toMatchObject({ waiting: 0, dead: 0 }));
});

test("webhooks: earlier events, types not subscribed to, and events about people and clients are not sent", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase();
  const { receiver } = await make(["case.closed"], tenant);
  const all = await make([], tenant);
  await tenant.call("POST", "/clients", { body: { scopes: ["read:case"] } });
  await tenant.openCase();
  await close(tenant, before.case_id);
  await until(() => expect(all.receiver.received.map(({ event }) => event.type)).toContain("case.closed"));
  await until(() => expect(receiver.received).toHaveLength(1));
  expect(receiver.received[0]?.event).toMatchObject({ type: "case.closed", resource: { id: before.case_id } });
  expect(all.receiver.received.filter(({ event }) => /^(client|user|webhook)\./.test(event.type))).toEqual([]);
});

test("webhooks: a case's next message waits for the previous one, and another case's does not", async () => {
  const made = await make(["case.closed", "case.reopened"]);
  const { tenant, receiver } = made;
  const [first, other] = [await tenant.openCase(), await tenant.openCase()];
  let isDown = true;
  receiver.answer = ({ event }, response) =>
    void response.writeHead(isDown && event.resource.id === first.case_id ? 503 : 200).end();
  await close(tenant, first.case_id);
  await until(() => expect(receiver.received).toHaveLength(1));
  await close(tenant, first.case_id, 2, "OPEN");
  await close(tenant, first.case_id, 3);
  await close(tenant, other.case_id);
  await until(() => expect(receiver.received.some(({ event }) => event.resource.id === other.case_id)).toBe(true));
  const ofFirst = () => receiver.received.filter(({ event }) => event.resource.id === first.case_id);
  expect(new Set(ofFirst().map(({ id }) => id)).size).toBe(1);
  isDown = false;
  await hurry(made);
  await until(() => expect(new Set(ofFirst().map(({ id }) => id)).size).toBe(3));
  const delivered = ofFirst().slice(-3);
  expect(delivered.map(({ event }) => event.type)).toEqual(["case.closed", "case.reopened", "case.closed"]);
});

test("webhooks: a failed attempt is retried with the same id, and recorded", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver, secret } = made;
  receiver.answer = (_received, response, count) => void response.writeHead(count < 3 ? 500 : 200).end();
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made, "?state=WAITING")).toMatchObject([{ last_status: 500 }]));
  await until(async () => {
    await hurry(made);
    expect(await deliveriesOf(made)).toMatchObject([{ attempts: 3, state: "DELIVERED", last_status: 200 }]);
  });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  for (const each of receiver.received) Receiver.verify(each, secret);
});

test("webhooks: after three days a message is dead, is shown as such, and can be sent again", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver } = made;
  let status = 500;
  receiver.answer = (_received, response) => void response.writeHead(status).end();
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ attempts: 1 }]));
  await hurry(made, new Date(Date.now() - 72 * 3_600_000).toISOString());
  await until(async () => expect(await shown(made)).toMatchObject({ waiting: 0, dead: 1 }));
  const [dead] = await deliveriesOf(made, "?state=DEAD");
  expect(dead).toMatchObject({ state: "DEAD", last_status: 500, last_error: "the receiver returned 500" });
  expect(dead).not.toHaveProperty("next_attempt_at");
  status = 200;
  const path = `/webhooks/${made.webhook.webhook_id}/resend`;
  expect((await tenant.call("POST", path)).json.data).toEqual({ resent: 1 });
  await until(async () => expect(await shown(made)).toMatchObject({ waiting: 0, dead: 0 }));
  expect((await tenant.call("POST", path)).json.data).toEqual({ resent: 0 });
  expect((await tenant.call("POST", path, { body: { event_id: dead?.event_id } })).json.data).toEqual({ resent: 1 });
  await until(() => expect(receiver.received).toHaveLength(4));
  expect((await tenant.call("POST", path, { body: { event_id: 999_999 } })).status).toBe(404);
});

test("webhooks: a receiver that never responds delays nobody else", async () => {
  const tenant = await TestTenant.create(service.current);
  const slow = await make(["case.opened"], tenant);
  slow.receiver.answer = () => {};
  const quick = await make(["case.opened"], tenant);
  for (let each = 0; each < 6; each++) await tenant.openCase();
  await until(() => expect(quick.receiver.received).toHaveLength(6));
  expect(slow.receiver.received.length).toBeLessThanOrEqual(4);
  expect(await shown(slow)).toMatchObject({ waiting: 6 });
});

test("webhooks: a redirect is not followed and does not count as delivered", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver } = made;
  const target = await make(["case.closed"], tenant);
  receiver.answer = (_received, response) => void response.writeHead(307, { location: target.receiver.url }).end();
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ state: "WAITING", last_status: 307 }]));
  expect(target.receiver.received).toEqual([]);
});

test("webhooks: a receiver that returns 410 is disabled, and continues where it stopped when it is enabled again", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver, webhook } = made;
  let status = 410;
  receiver.answer = (_received, response) => void response.writeHead(status).end();
  await tenant.openCase();
  await until(async () =>
    expect(await shown(made)).toMatchObject({ is_enabled: false, disabled_reason: expect.stringContaining("410") }),
  );
  await tenant.openCase();
  status = 200;
  const answer = await tenant.call("PUT", `/webhooks/${webhook.webhook_id}`, { body: { is_enabled: true } });
  expect(answer.json.data).toMatchObject({ is_enabled: true });
  expect(answer.json.data).not.toHaveProperty("disabled_reason");
  await hurry(made);
  await until(() => expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(2));
});

test("webhooks: while a secret is being replaced, messages are signed with both", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver, webhook, secret } = made;
  const rotated: Kept = (await tenant.call("POST", `/webhooks/${webhook.webhook_id}/rotate-secret`)).json.data;
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.webhook.previous_secret_expires_at).toBeDefined();
  await tenant.openCase();
  await until(() => expect(receiver.received).toHaveLength(1));
  for (const known of [secret, rotated.secret]) Receiver.verify(receiver.at(0), known);
  await service.current.database.query(sql`
    update webhooks set previous_secret_until = now() where tenant_id = ${tenant.tenantId}`);
  await tenant.openCase();
  await until(() => expect(receiver.received).toHaveLength(2));
  Receiver.verify(receiver.at(1), rotated.secret);
  expect(() => Receiver.verify(receiver.at(1), secret)).toThrow(/signature/i);
});

test("webhooks: a test message is sent at once, and its result is returned", async () => {
  const { tenant, receiver, webhook, secret } = await make();
  const path = `/webhooks/${webhook.webhook_id}/test`;
  expect((await tenant.call("POST", path)).json.data).toMatchObject({ delivered: true, status: 204 });
  expect(receiver.received[0]?.event).toMatchObject({
    type: "webhook.test",
    resource: { type: "webhook", id: webhook.webhook_id },
  });
  Receiver.verify(receiver.at(0), secret);
  receiver.answer = (_received, response) => void response.writeHead(500).end("<html>");
  expect((await tenant.call("POST", path)).json.data).toMatchObject({ delivered: false, status: 500 });
  receiver.stop();
  const refused = (await tenant.call("POST", path)).json.data;
  expect(refused).toMatchObject({ delivered: false, error: expect.stringMatching(/ECONNREFUSED/) });
  expect(refused).not.toHaveProperty("status");
});

test("webhooks: they can be listed, changed and deleted", async () => {
  const made = await make(["case.opened"]);
  const { tenant, webhook, receiver } = made;
  expect((await tenant.call("GET", "/webhooks")).json).toEqual({ data: { webhooks: [webhook] } });
  const path = `/webhooks/${webhook.webhook_id}`;
  const changed = await tenant.call("PUT", path, { body: { types: ["case.closed"] } });
  expect(changed.json.data).toMatchObject({ url: receiver.url, types: ["case.closed"], is_enabled: true });
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  for (const [method, at] of [
    ["GET", path],
    ["DELETE", path],
    ["PUT", path],
    ["GET", `${path}/deliveries`],
    ["POST", `${path}/test`],
  ] as const)
    expect((await tenant.call(method, at, method === "PUT" ? { body: {} } : {})).json).toMatchObject({ type: "item-not-found" });
  expect((await tenant.call("GET", "/webhooks/nothing")).status).toBe(404);
  const feed: { events: { type: string }[] } = (await tenant.call("GET", "/events")).json.data;
  expect(feed.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["webhook.created", "webhook.updated", "webhook.deleted"]),
  );
  expect(JSON.stringify((await tenant.call("GET", "/events")).json)).not.toContain("whsec_");
});

test("webhooks: a tenant has at most twenty, even with concurrent requests", async () => {
  const tenant = await TestTenant.create(service.current);
  const url = "https://crm.example/hook";
  const answers = await Promise.all(Array.from({ length: 24 }, () => tenant.call("POST", "/webhooks", { body: { url } })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  const refused = answers.filter(({ status }) => status === 422);
  expect(refused).toHaveLength(4);
  for (const { json } of refused)
    expect(json).toMatchObject({
      detail: "The tenant already has the maximum of 20 webhooks. Delete one first.",
      errors: [{ field: "body" }],
    });
});

test.each([
  ["an address that is not a URL", "nowhere"],
  ["another scheme", "ftp://crm.example/"],
  ["an address with a password", "https://me:secret@crm.example/"],
  ["an address with a fragment", "https://crm.example/#there"],
  ["an address that is too long", `https://crm.example/${"a".repeat(2_000)}`],
])("POST webhooks 422: %s, and nothing changes", async (_name, url) => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("POST", "/webhooks", { body: { url } });
  expect(answer.json).toMatchObject({ type: "validation-error", errors: [{ field: "url" }] });
  expect((await tenant.call("GET", "/webhooks")).json).toEqual({ data: { webhooks: [] } });
});

test("POST webhooks 403: a caller needs the scopes to read what would be sent", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await tenant.mint(["manage:webhooks", "read:events"]);
  const answer = await tenant.call("POST", "/webhooks", { token, body: { url: "https://crm.example/hook" } });
  expect(answer.json).toMatchObject({ type: "access-denied" });
});

test("webhooks: another tenant can neither see nor change them", async () => {
  const { webhook } = await make();
  const stranger = await TestTenant.create(service.current);
  expect((await stranger.call("GET", "/webhooks")).json).toEqual({ data: { webhooks: [] } });
  const path = `/webhooks/${webhook.webhook_id}`;
  for (const [method, at] of [
    ["GET", path],
    ["DELETE", path],
    ["POST", `${path}/test`],
    ["POST", `${path}/resend`],
    ["POST", `${path}/rotate-secret`],
  ] as const)
    expect((await stranger.call(method, at)).status).toBe(404);
});
