// Fills a store with many cases, copied from a few that detection opened itself.
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../service/src/clock.ts";
import { countUnscored } from "../service/src/db/inbox.ts";
import { itemOfColumns } from "../service/src/db/lists.ts";
import { statement } from "../service/src/db/postgres/sql.ts";
import { deliver, type CourierTarget } from "@casehound/simulator/courier";
import { demoTimeline } from "@casehound/simulator/demo";
import type { Delivery } from "@casehound/simulator/delivery";
import type { Bench } from "./machine.ts";

const watchedMs = 60_000;
const stepRows = 20_000;
const isoFormat = `YYYY-MM-DD"T"HH24:MI:SS.MS"Z"`;

export type Shop = { target: CourierTarget; appKey: string; origin: string };

// The cases of the demo's shop after a minute.
export async function openDemoCases({ database }: Bench, { target, appKey, origin }: Shop): Promise<void> {
  const startMs = Date.parse(clock.now()) - watchedMs;
  const demo = demoTimeline({ seed: "many", startMs, appKey, origin });
  await deliver(demo.backlog(), target, { inFlightMax: 2 });
  await deliver(upTo(demo.live(startMs), startMs + watchedMs), target);
  while ((await countUnscored(database)) > 0) await sleep(100);
}

function* upTo(deliveries: Iterable<Delivery>, untilMs: number): Generator<Delivery> {
  for (const delivery of deliveries) {
    if (delivery.at_ms > untilMs) return;
    yield delivery;
  }
}

// Copies each of the tenant's cases many times, as cases of other accounts, opened at other times in the last `days`. An id is a
// UUID version 7 made from the time.
const insertCases = `
  with templates as (
    select row_number() over (order by case_id) - 1 as place, count(*) over () as templates, *
    from cases
    where tenant_id = $1 and status = 'OPEN' and subject like 'account:%' and website_account_id not like 'many-%'
  ),
  made as (
    select t.*, 'many-' || n as account, at, n % 11 = 0 as is_blocked,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
        || '8' || substr(md5(n::text), 5, 15))::uuid as id
    from generate_series($2::bigint, $3::bigint) as n
    cross join lateral (
      select date_trunc('milliseconds', $4::timestamptz - (n * 7919 % $5::bigint) * interval '1 millisecond') as at
    ) as a
    join templates as t on t.place = n * 31 % t.templates
  ),
  accounts_made as (
    insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
    select $1, account, is_blocked, false, false, at, at
    from made
  )
  insert into cases (
    tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
    overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, document, item, item_version
  )
  select tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
    overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, document, ${itemOfColumns}, case_version
  from (
    select $1::uuid as tenant_id, id as case_id, 'account:' || account as subject, account as website_account_id,
      is_blocked as end_user_is_blocked, status, case_version, at as created_at,
      case when updated_at is null then null else at + interval '2 minutes' end as updated_at,
      overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, null::timestamptz as due_at,
      replace(
        replace(replace(document, case_id::text, id::text), to_json(website_account_id)::text, to_json(account)::text),
        to_char(created_at at time zone 'UTC', '${isoFormat}'), to_char(at at time zone 'UTC', '${isoFormat}')
      ) as document
    from made
  ) as copies`;

export async function multiplyCases(
  { database }: Bench,
  { tenantId, cases, days }: { tenantId: string; cases: number; days: number },
): Promise<void> {
  const now = clock.now();
  for (let from = 1; from <= cases; from += stepRows) {
    const to = Math.min(from + stepRows - 1, cases);
    await database.query(statement(insertCases, [tenantId, from, to, now, days * 86_400_000]));
    process.stderr.write(`\r${to} of ${cases} cases `);
  }
  await database.query(statement("vacuum analyze cases, accounts", []));
  process.stderr.write("\n");
}
