import { expect, test } from "vitest";
import { claimDeliveries, saveAttempt } from "../src/db/deliveries.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { Receiver } from "./webhook-receiver.ts";
import { close, deliveriesOf, shown, until, useWebhooks, type Kept, type Made } from "./webhook-rig.ts";

const { service, make } = useWebhooks("webhook_waiting");

const resend = async ({ tenant, webhook }: Made, body: { event_id?: number } = {}) =>
  (await tenant.call("POST", `/webhooks/${webhook.webhook_id}/resend`, { body })).json.data;

const change = async ({ tenant, webhook }: Made, body: object) =>
  (await tenant.call("PUT", `/webhooks/${webhook.webhook_id}`, { body })).json.data;

// As after hours of an outage: the next attempt is far away.
async function waitLong({ tenant, webhook }: Made): Promise<void> {
  await service.current.database.query(sql`
    update webhook_deliveries
    set next_at = now() + interval '8 hours'
    where tenant_id = ${tenant.tenantId} and webhook_id = ${webhook.webhook_id}::uuid and state = 'WAITING'`);
}

test("GET deliveries 200: a message that waits for an earlier one names that event, and has no next attempt", async () => {
  const made = await make(["case.opened", "case.closed"]);
  const { tenant, receiver } = made;
  receiver.answer = (_received, response) => void response.writeHead(500).end();
  const { case_id } = await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ attempts: 1, last_status: 500 }]));
  await close(tenant, case_id);
  await until(async () => expect(await deliveriesOf(made)).toHaveLength(2));
  const [second, first] = await deliveriesOf(made);
  expect(second).toMatchObject({ type: "case.closed", state: "WAITING", waits_for: first?.event_id });
  expect(second).not.toHaveProperty("next_attempt_at");
  expect(first).toMatchObject({ next_attempt_at: expect.any(String) });
  expect(first).not.toHaveProperty("waits_for");
  receiver.answer = (_received, response) => void response.writeHead(204).end();
  await resend(made);
  await until(async () => expect(await shown(made)).toMatchObject({ waiting: 0 }));
  for (const each of await deliveriesOf(made)) expect(each).not.toHaveProperty("waits_for");
});

test("POST resend 200: messages due in hours are sent now, together with dead ones", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver } = made;
  let status = 503;
  receiver.answer = (_received, response) => void response.writeHead(status).end();
  await tenant.openCase();
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ last_status: 503 }, { last_status: 503 }]));
  await waitLong(made);
  status = 200;
  expect(await resend(made)).toEqual({ resent: 2 });
  await until(async () => expect(await shown(made)).toMatchObject({ waiting: 0, dead: 0 }));
  expect(await resend(made)).toEqual({ resent: 0 });
});

test("webhooks: while a webhook is disabled, nothing is sent, not even resends, and nothing has a time", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver } = made;
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ state: "DELIVERED" }]));
  await change(made, { is_enabled: false });
  const [only] = await deliveriesOf(made);
  expect(await resend(made, { event_id: only?.event_id ?? 0 })).toEqual({ resent: 1 });
  await tenant.openCase();
  expect(await shown(made)).toMatchObject({ waiting: 1 });
  const [waiting] = await deliveriesOf(made);
  expect(waiting).toMatchObject({ state: "WAITING" });
  expect(waiting).not.toHaveProperty("next_attempt_at");
  expect(receiver.received).toHaveLength(1);
  await change(made, { is_enabled: true });
  await until(() => expect(receiver.received).toHaveLength(3));
});

test("webhooks: a second rotation ends the first secret at once", async () => {
  const made = await make(["case.opened"]);
  const { tenant, receiver, webhook, secret } = made;
  const rotate = async (): Promise<Kept> =>
    (await tenant.call("POST", `/webhooks/${webhook.webhook_id}/rotate-secret`)).json.data;
  const [second, third] = [await rotate(), await rotate()];
  await tenant.openCase();
  await until(() => expect(receiver.received).toHaveLength(1));
  for (const known of [second, third]) Receiver.verify(receiver.at(0), known.secret);
  expect(() => Receiver.verify(receiver.at(0), secret)).toThrow(/signature/i);
});

test("webhooks: an erased account is sent only by its pseudonym, which leads to its cases", async () => {
  const { tenant, receiver } = await make(["account.erased"]);
  const { case_id } = await tenant.openCase("someone");
  expect((await tenant.call("DELETE", "/enduseraccounts/someone")).status).toBe(204);
  await until(() => expect(receiver.received).toHaveLength(1));
  const { event, text } = receiver.at(0);
  expect(event.resource).toEqual({ type: "end_user_account", id: expect.stringMatching(/^erased-/) });
  expect(text).not.toContain("someone");
  expect(event).not.toHaveProperty("current");
  expect(await tenant.list(`website_account_id=${event.resource.id}`)).toMatchObject([{ case_id }]);
});

test("webhooks: a type listed twice counts once, and removing types drops no waiting message", async () => {
  const made = await make(["case.opened", "case.opened"]);
  const { tenant, receiver } = made;
  expect(made.webhook.types).toEqual(["case.opened"]);
  receiver.answer = (_received, response, count) => void response.writeHead(count === 1 ? 500 : 200).end();
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ last_status: 500 }]));
  expect(await change(made, { types: ["case.closed", "case.closed"] })).toMatchObject({ types: ["case.closed"] });
  await resend(made);
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ type: "case.opened", state: "DELIVERED" }]));
});

test("webhooks: an attempt in progress when its message is resent does not affect the new one", async () => {
  const made = await make(["case.opened"]);
  const { tenant, webhook } = made;
  await tenant.openCase();
  await until(async () => expect(await deliveriesOf(made)).toMatchObject([{ state: "DELIVERED" }]));
  // Disabled, so that only this test claims the delivery.
  await change(made, { is_enabled: false });
  const { database } = service.current;
  const key = { tenant_id: tenant.tenantId, webhook_id: webhook.webhook_id };
  const [{ event_id } = { event_id: 0 }] = await deliveriesOf(made);
  const take = async (seconds: number) => {
    const [now, leaseUntil] = [seconds, seconds + 60].map((each) => new Date(Date.now() + each * 1000).toISOString());
    const [claimed] = await claimDeliveries(database, key, { limit: 1, now: now ?? "", leaseUntil: leaseUntil ?? "" });
    if (!claimed) throw new Error("nothing was due");
    return claimed;
  };
  await resend(made, { event_id });
  const old = await take(1);
  await resend(made);
  const fresh = await take(2);
  const ended = { next_at: new Date().toISOString(), status: 500, error: "the receiver returned 500" };
  await saveAttempt(database, key, old, { ...ended, state: "DEAD" });
  expect(await deliveriesOf(made)).toMatchObject([{ state: "WAITING" }]);
  await saveAttempt(database, key, fresh, { ...ended, state: "DELIVERED", status: 200, error: null });
  expect(await deliveriesOf(made)).toMatchObject([{ state: "DELIVERED", last_status: 200 }]);
});
