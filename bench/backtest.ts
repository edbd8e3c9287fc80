// Measures how fast a draft is tested on stored decisions, in its own database. Run with `node bench/backtest.ts [decisions]`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { clock } from "../service/src/clock.ts";
import { makePartition } from "../service/src/db/activities.ts";
import { claimBacktest, insertBacktest } from "../service/src/db/backtests.ts";
import { Database } from "../service/src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../service/src/db/postgres/embedded.ts";
import { migrate } from "../service/src/db/postgres/migrate.ts";
import { statement } from "../service/src/db/postgres/sql.ts";
import { findPlace } from "../service/src/detection/vector.ts";
import { daysOf, requestOf, type BacktestRequest } from "../service/src/domain/backtest.ts";
import { LeaseKeeper, runBacktest } from "../service/src/engine/backtest.ts";
import { createTenant } from "../service/src/tenancy.ts";

const decisions = Number(process.argv[2] ?? 500_000);
const days = 10;

const drafts = {
  "one field, few hits": "device.accounts_1h >= 60",
  "four fields, few hits": `event.type == "login_failed" && ip.failed_accounts_1h >= 30 && account.failed_logins_1h < 3 && event.country in ["DE", "FR"]`,
  "attributes, few hits": `event.attributes.amount > 990 && account.values >= 3`,
  "one in four hits": "device.accounts_1h >= 48",
};

// The features of an active account. %s stands for what differs from one activity to the next.
const features: [name: string, value: string][] = [
  ["event.type", "login_failed"],
  ["event.origin", "server"],
  ["event.country", "DE"],
  ["event.asn", "3320"],
  ["event.browser", "Chrome"],
  ["event.os", "Linux"],
  ["account.is_known", "true"],
  ["account.age_minutes", "%s"],
  ["account.logins", "%s"],
  ["account.events_1h", "%s"],
  ["account.events_24h", "%s"],
  ["account.failed_logins_1h", "%s"],
  ["account.devices_24h", "2"],
  ["account.ips_24h", "3"],
  ["account.countries_24h", "1"],
  ["account.values", "7"],
  ["device.is_known", "true"],
  ["device.age_minutes", "%s"],
  ["device.accounts_1h", "%s"],
  ["device.accounts_24h", "%s"],
  ["ip.accounts_1h", "%s"],
  ["ip.failed_accounts_1h", "%s"],
  ["session.is_known", "true"],
  ["session.events", "%s"],
  ["session.pages", "4"],
  ["session.gaps", "3"],
  ["tenant.has_browser", "true"],
];
const ones = features.filter(([, value]) => value === "true").map(([name]) => findPlace(name)?.code);
const others = features.filter(([, value]) => value !== "true").map(([name, value]) => `,${findPlace(name)?.code}${value}`);
const decision = `{"v":1,"l":0.4,"r":{"stuffing_device":1},"f":"${ones.join("")}${others.join("")}"}`;

const insert = `
  insert into activities (
    tenant_id, received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id, session_id, device_id, ip,
    document, decision
  )
  select $1::uuid, at, gen_random_uuid(), at, 1, 'server', 'login_failed', 'activity-' || n, 'account-' || n % 5000, 'session-' || n % 9000,
    'device-' || n % 4000, '192.0.2.' || n % 256,
    format('{"user_agent":"Mozilla/5.0 (X11; Linux x86_64)","attributes":{"amount":%s,"currency":"EUR"}}', n % 1000),
    format(
      '${decision}',
      n, n % 50, n % 20, n % 60, n % 9, n % 100000, n % 64, n % 64, n % 40, n % 32, n % 30
    )
  from (
    select n, $2::timestamptz + (n % 86400000) * interval '1 millisecond' as at
    from generate_series($3::bigint, $4::bigint) as n
  ) as given`;

async function fill(database: Database, tenantId: string, request: BacktestRequest): Promise<void> {
  const perDay = Math.ceil(decisions / days);
  for (const [index, { day, from }] of daysOf(request).entries()) {
    await database.transaction((tx) => makePartition(tx, day));
    // In steps, because a statement may take at most ten seconds.
    for (let start = 0; start < perDay; start += 50_000) {
      const range = [index * perDay + start, index * perDay + Math.min(start + 50_000, perDay) - 1];
      await database.transaction((tx) => tx.query(statement(insert, [tenantId, from, ...range])));
    }
  }
}

async function measure(database: Database, tenantId: string, [name, expression]: [string, string]): Promise<void> {
  const now = clock.now();
  const request = requestOf({ expression, days }, now);
  const added = { backtest_id: clock.newId(), request, created_at: now, created_by: "bench" };
  await database.transaction((tx) => insertBacktest(tx, tenantId, added));
  const claimed = await claimBacktest(database, 60);
  if (!claimed) throw new Error("there is no backtest to claim");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const result = await runBacktest({
    database,
    claimed,
    hold: new LeaseKeeper(database, claimed),
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  const rate = Math.round((result?.decisions ?? 0) / seconds);
  process.stdout.write(
    `${name}: ${rate} decisions/s, ${result?.hits} hits of ${result?.decisions}; this process used ${Math.round((user + system) / 10_000 / seconds)} % of a core; event loop delay ${Math.round(delay.percentile(99) / 1e6)} ms (p99)\n`,
  );
}

const folder = mkdtempSync(join(tmpdir(), "casehound-bench-"));
const embedded = await EmbeddedPostgres.forService(folder);
const database = new Database(embedded.address);
try {
  await migrate(database);
  const { tenant_id: tenantId } = await createTenant(database, { slug: "bench" }, clock);
  await fill(database, tenantId, requestOf({ expression: "true", days }, clock.now()));
  for (const draft of Object.entries(drafts)) await measure(database, tenantId, draft);
} finally {
  await database.end();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}
