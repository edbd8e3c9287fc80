import { randomUUID } from "node:crypto";
import { afterEach, expect, vi } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import type { Delivery, Webhook } from "../src/domain/webhook.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { Receiver } from "./webhook-receiver.ts";

export type Kept = { webhook: Webhook; secret: string };
export type Made = Kept & { tenant: TestTenant; receiver: Receiver };

// A service that sends to this machine, and the receivers of a test.
export function useWebhooks(database: string) {
  // Uses its own database, because services of other tests would try to send its messages too, and may not send to this machine.
  const databaseUrl = useOwnDatabase(database);
  const service = useService({ databaseUrl, hasPrivateWebhooks: true });
  const receivers: Receiver[] = [];
  afterEach(() => {
    for (const receiver of receivers.splice(0)) receiver.stop();
  });

  async function make(types: string[] = [], tenant?: TestTenant): Promise<Made> {
    const owner = tenant ?? (await TestTenant.create(service.current));
    const receiver = await Receiver.start();
    receivers.push(receiver);
    const answer = await owner.call("POST", "/webhooks", { body: { url: receiver.url, types } });
    expect(answer.status).toBe(201);
    const made: Kept = answer.json.data;
    return { tenant: owner, receiver, ...made };
  }

  // Makes deliveries due now, whether they wait for their next attempt or are leased by a killed process.
  async function hurry({ tenant, webhook }: Made, firstAt: string | null = null): Promise<void> {
    await service.current.database.query(sql`
      update webhook_deliveries
      set next_at = now() - interval '1 second', first_at = coalesce(${firstAt}::timestamptz, first_at)
      where tenant_id = ${tenant.tenantId} and webhook_id = ${webhook.webhook_id}::uuid and state = 'WAITING'`);
  }

  return { service, databaseUrl, make, hurry };
}

export const until = (what: () => void | Promise<void>) => vi.waitFor(what, { timeout: 30_000, interval: 50 });

export async function close(tenant: TestTenant, id: string, version = 1, status = "CLOSED"): Promise<void> {
  const headers = { "idempotency-key": randomUUID() };
  const answer = await tenant.call("PUT", `/cases/${id}`, { body: { status, case_version: version }, headers });
  expect(answer.status).toBe(200);
}

export async function deliveriesOf({ tenant, webhook }: Made, query = ""): Promise<Delivery[]> {
  const answer = await tenant.call("GET", `/webhooks/${webhook.webhook_id}/deliveries${query}`);
  const { deliveries }: { deliveries: Delivery[] } = answer.json.data;
  return deliveries;
}

export async function shown({ tenant, webhook }: Made): Promise<Webhook> {
  return (await tenant.call("GET", `/webhooks/${webhook.webhook_id}`)).json.data;
}
