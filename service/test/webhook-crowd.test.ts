import { afterEach, expect, test, vi } from "vitest";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { Receiver } from "./webhook-receiver.ts";

// Uses its own database, because services of other tests would try to send its messages too, and may not send to this machine.
const databaseUrl = useOwnDatabase("webhook_crowd");
const service = useService({ databaseUrl, hasPrivateWebhooks: true });
const receivers: Receiver[] = [];

afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.stop();
});

async function receive(tenant: TestTenant, webhooks: number): Promise<Receiver> {
  const receiver = await Receiver.start();
  receivers.push(receiver);
  for (let made = 0; made < webhooks; made++) {
    const answer = await tenant.call("POST", "/webhooks", { body: { url: receiver.url } });
    expect(answer.status).toBe(201);
  }
  return receiver;
}

test("webhooks: a tenant with many receivers that never respond delays no other tenant", async () => {
  const [slow, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const silent = await receive(slow, 20);
  silent.answer = () => {};
  const prompt = await receive(other, 1);
  for (const name of ["ada", "ben", "cai", "dan", "eve"]) await slow.openCase(name);
  await vi.waitFor(() => expect(silent.received.length).toBeGreaterThanOrEqual(10), { timeout: 10_000, interval: 50 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await other.openCase("somebody");
  await vi.waitFor(() => expect(prompt.received.length).toBeGreaterThan(0), { timeout: 5_000, interval: 50 });
});
