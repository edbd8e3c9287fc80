import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { claimMail, saveMailEnd } from "../src/db/notification-mails.ts";
import { listPeopleDue } from "../src/db/notifications.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { newTenant, useLab } from "./engine-lab.ts";

const lab = useLab();
const change = (text: string, ...values: unknown[]) => lab.current.database.query(statement(text, values));

beforeEach(() => change("truncate notification_mails, notification_settings"));

// Each has waited a minute longer than the next.
async function storeMails(count: number, tenantId?: string): Promise<string> {
  const tenant_id = tenantId ?? (await newTenant(lab.current));
  const text = `
    insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at)
    select $1::uuid, gen_random_uuid(), gen_random_uuid(), 'digest', 0, 1, 'WAITING', 0, at, at
    from generate_series(1, $2::int) as n
    cross join lateral (select now() - make_interval(mins => $2::int - n) as at) as made`;
  await change(text, tenant_id, count);
  return tenant_id;
}

async function claimNext(lastTenantId: string | null) {
  const now = new Date().toISOString();
  const leaseUntil = new Date(Date.now() + 60_000).toISOString();
  return claimMail(lab.current.database, { now, leaseUntil, lastTenantId });
}

async function claimAll(max: number): Promise<string[]> {
  const found: string[] = [];
  for (let next = await claimNext(null); next && found.length < max; next = await claimNext(next.tenant_id)) {
    found.push(next.tenant_id);
    await saveMailEnd(lab.current.database, next, { state: "SENT", next_at: next.last_at, error: null });
  }
  return found;
}

test("mail: a tenant with thousands of waiting e-mails does not delay the others", async () => {
  const crowded = await storeMails(3_000);
  const [one, other] = [await storeMails(2), await storeMails(1)];
  const claimed = await claimAll(7);
  const places = (tenantId: string) => claimed.flatMap((each, place) => (each === tenantId ? [place] : []));
  expect([places(one).length, places(other).length, places(crowded).length]).toEqual([2, 1, 4]);
  expect(Math.max(...places(one), ...places(other))).toBeLessThan(5);
});

test("mail: every waiting e-mail is claimed once, the oldest of its tenant first, and none before its time", async () => {
  const tenants = [await storeMails(5), await storeMails(3)];
  await storeMails(1, await newTenant(lab.current));
  await change("update notification_mails set next_at = now() + interval '1 hour' where tenant_id <> all($1::uuid[])", tenants);
  const oldest = await change("select mail_id from notification_mails where tenant_id = $1 order by next_at limit 1", tenants[0]);
  expect((await claimNext(tenants[1] ?? null))?.mail_id).toBe(oldest[0]?.["mail_id"]);
  expect(await claimAll(20)).toHaveLength(7);
  expect(await claimNext(null)).toBeUndefined();
});

test("mail: a tenant with hundreds of people who are due does not delay the planning for the others", async () => {
  const people = async (count: number) => {
    const tenantId = await newTenant(lab.current);
    await change("update event_counters set last_event_id = 5 where tenant_id = $1", tenantId);
    const ids = Array.from({ length: count }, () => randomUUID());
    await change(
      `insert into users (tenant_id, user_id, email, name, role, is_disabled, created_at)
      select $1::uuid, id, id || '@shop.example', 'Ada', 'lead', false, now()
      from unnest($2::uuid[]) as i (id)`,
      tenantId,
      ids,
    );
    await change(
      `insert into notification_settings (tenant_id, user_id, settings, notifications_version, is_on, position, next_at)
      select $1::uuid, id, '{}', 1, true, 0, now() - interval '1 hour'
      from unnest($2::uuid[]) as i (id)`,
      tenantId,
      ids,
    );
    return tenantId;
  };
  await people(300);
  const other = await people(1);
  await change("update notification_settings set next_at = next_at + interval '1 minute' where tenant_id = $1", other);
  const due = await listPeopleDue(lab.current.database, new Date().toISOString());
  expect(due.findIndex(({ tenant_id }) => tenant_id === other)).toBe(1);
});
