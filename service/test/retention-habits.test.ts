import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { Expiry } from "../src/engine/expire.ts";
import { DetectionTenant, type Sent } from "./detection.ts";

const dayMs = 24 * 60 * 60 * 1000;
const daysAgo = (days: number, minutes = 0) => new Date(Date.now() - days * dayMs + minutes * 60_000).toISOString();

// A tenant whose engine uses the test's clock.
async function open(): Promise<{ tenant: DetectionTenant; setNow: (now: string) => void }> {
  let now = clock.now();
  const tenant = await DetectionTenant.create({ clock: { ...clock, now: () => now } });
  onTestFinished(() => tenant.end());
  return { tenant, setNow: (at) => (now = at) };
}

async function expire({ database }: DetectionTenant, retentionDays: number): Promise<void> {
  const passed = await new Expiry({ database, clock, log: pino({ level: "silent" }), retentionDays }).pass();
  expect(passed?.isWhole).toBe(true);
}

const owner = { website_account_id: "owner" };

function takeover(): Sent[] {
  const tries = Array.from({ length: 6 }, (_, n) => ({ type: n < 5 ? "login_failed" : "login_succeeded", minute: n - 10 }));
  return tries.map(({ type, minute }) => ({ ...owner, type, device_id: "thief", occurred_at: daysAgo(0, minute) }));
}

test.each([
  [35, 30],
  [100, 90],
  [390, 1],
])(
  "expiry: an account that was quiet for %i days is still protected by its habits, with a retention of %i days",
  async (days, kept) => {
    const { tenant, setNow } = await open();
    setNow(daysAgo(days));
    await tenant.send(
      ...Array.from({ length: 5 }, (_, n) => ({
        ...owner,
        type: "login_succeeded",
        device_id: "phone",
        occurred_at: daysAgo(days, n - 60),
      })),
    );
    await tenant.score();
    await expire(tenant, kept);
    setNow(clock.now());
    await tenant.send(...takeover());
    await tenant.score();
    const [found, ...more] = await tenant.cases();
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      subject: "account:owner",
      details: { primary_fraud_label: "Account Takeover" },
    });
  },
);

test("expiry: with a retention over 400 days habits are kept that long, and states that anybody can create for 30 days", async () => {
  const { tenant, setNow } = await open();
  const statesAt = async (days: number, id: string) => {
    setNow(daysAgo(days));
    const of = { website_account_id: id, device_id: `device of ${id}`, ip: `192.0.2.${days % 256}` };
    await tenant.send({ type: "login_succeeded", occurred_at: daysAgo(days), ...of });
    await tenant.score();
  };
  for (const days of [29, 31, 399, 499, 501]) await statesAt(days, `of ${days} days ago`);
  const kinds = async () => {
    const text =
      "select kind, count(*) as count from entity_states where tenant_id = $1 and kind <> 'value' group by kind order by 1";
    const rows = await tenant.database.query<{ kind: string; count: number }>(statement(text, [tenant.tenantId]));
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  };
  expect(await kinds()).toMatchObject({ account: 5, device: 5, ip: 5 });
  await expire(tenant, 500);
  expect(await kinds()).toMatchObject({ account: 4, device: 1, ip: 1 });
  await expire(tenant, 90);
  expect(await kinds()).toMatchObject({ account: 3, device: 1, ip: 1 });
});
