// Measures what row-level security costs reads: two services on one PostgreSQL, one with it and one without, measured in turns:
// `node bench/row-security.ts [rounds]`.
import { Agent, request } from "node:http";
import { clock } from "../service/src/clock.ts";
import { migrate } from "../service/src/db/postgres/migrate.ts";
import { statement } from "../service/src/db/postgres/sql.ts";
import { clientTokens } from "@casehound/simulator/courier";
import { createTenant } from "../service/src/tenancy.ts";
import {
  cpuSeconds,
  openBench,
  percentile,
  postgresCpuSeconds,
  startProcess,
  type Bench,
  type ServiceUnderTest,
} from "./machine.ts";

const rounds = Number(process.argv[2] ?? 20);
const roundMs = 1_000;
const inFlight = 32;
const tenantCount = 8;
const casesPerTenant = 5_000;

type Filled = { slug: string; clientId: string; clientSecret: string; caseIds: string[] };

async function fillTenant({ database }: Bench, slug: string): Promise<Filled> {
  const made = await createTenant(database, { slug }, clock);
  const rows = await database.query<{ case_id: string }>(
    statement(
      `with made as (
         select n, date_trunc('milliseconds', now() - n * interval '1 minute') as at,
           (lpad(to_hex((extract(epoch from now() - n * interval '1 minute') * 1000)::bigint), 12, '0')
             || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id
         from generate_series(1, $2::int) as n
       )
       insert into cases (tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at,
         overall_risk_score, primary_fraud_label, recommended_action, document)
       select $1::uuid, id, 'account:user-' || n, 'user-' || n, false, 'OPEN', 1, at, 1 + n % 5, 'Bot', 'MONITOR',
         '{"case_id":"' || id || '","padding":"' || repeat('x', 2000) || '"}'
       from made
       returning case_id`,
      [made.tenant_id, casesPerTenant],
    ),
  );
  return { slug, clientId: made.client_id, clientSecret: made.client_secret, caseIds: rows.map((row) => row.case_id) };
}

type Side = { service: ServiceUnderTest; agent: Agent; tokens: Map<string, string> };

async function openSide(bench: Bench, name: "on" | "off", tenants: Filled[]): Promise<Side> {
  const service = await startProcess(bench, { ROW_SECURITY: name, ROLES: "api" });
  const tokens = new Map<string, string>();
  for (const { slug, clientId, clientSecret } of tenants)
    tokens.set(slug, await clientTokens({ baseUrl: service.url, clientId, clientSecret })(false));
  return { service, agent: new Agent({ keepAlive: true, maxSockets: inFlight }), tokens };
}

function get({ service, agent, tokens }: Side, slug: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${tokens.get(slug)}` };
    const sent = request(`${service.url}/v2/${slug}${path}`, { agent, headers }, (answer) => {
      answer.on("end", () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`))));
      answer.on("error", reject);
      answer.resume();
    });
    sent.on("error", reject);
    sent.end();
  });
}

type Reads = { name: string; tenants: Filled[]; path: (tenant: Filled, n: number) => string };
type Measured = { perSecond: number; cpuMicros: number };

async function measure(side: Side, bench: Bench, { tenants, path }: Reads, ms: number): Promise<Measured> {
  let done = 0;
  const cpu = () => cpuSeconds(side.service.pid) + postgresCpuSeconds(bench.folder);
  const cpuBefore = cpu();
  const began = performance.now();
  const work = async () => {
    while (performance.now() - began < ms) {
      const tenant = tenants[done % tenants.length];
      if (!tenant) throw new Error("there are no tenants");
      const n = done++;
      await get(side, tenant.slug, path(tenant, n));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const seconds = (performance.now() - began) / 1000;
  return { perSecond: done / seconds, cpuMicros: ((cpu() - cpuBefore) / done) * 1e6 };
}

const median = (values: number[]) => percentile(values, 0.5);

// Measures both in each round, one right after the other. The machine's slow phases last longer, so they hardly affect the ratio.
async function compare(sides: { off: Side; on: Side }, bench: Bench, reads: Reads): Promise<string> {
  const found: { off: Measured; on: Measured }[] = [];
  for (const side of [sides.off, sides.on]) await measure(side, bench, reads, roundMs);
  for (let round = 0; round < rounds; round++) {
    const isOffFirst = round % 2 === 0;
    const first = await measure(isOffFirst ? sides.off : sides.on, bench, reads, roundMs);
    const second = await measure(isOffFirst ? sides.on : sides.off, bench, reads, roundMs);
    found.push(isOffFirst ? { off: first, on: second } : { off: second, on: first });
  }
  const cells = (["perSecond", "cpuMicros"] as const).flatMap((figure) => [
    ...(["off", "on"] as const).map((side) => median(found.map((each) => each[side][figure])).toFixed(0)),
    `${((median(found.map(({ off, on }) => on[figure] / off[figure])) - 1) * 100).toFixed(1)} %`,
  ]);
  return `| ${reads.name} | ${cells.join(" | ")} |`;
}

const byId: Reads["path"] = ({ caseIds }, n) => `/cases/${caseIds[(n * 7919) % caseIds.length]}`;
const say = (line: string) => process.stdout.write(`${line}\n`);

const bench = await openBench("row-security");
try {
  await migrate(bench.database);
  const tenants: Filled[] = [];
  for (let n = 0; n < tenantCount; n++) tenants.push(await fillTenant(bench, `tenant-${n}`));
  await bench.database.query(statement("vacuum analyze cases", []));
  const sides = { off: await openSide(bench, "off", tenants), on: await openSide(bench, "on", tenants) };
  const one = tenants.slice(0, 1);
  const all: Reads[] = [
    { name: "`GET /cases/{id}`, one tenant", tenants: one, path: byId },
    { name: `\`GET /cases/{id}\`, ${tenantCount} tenants in turns`, tenants, path: byId },
    { name: "`GET /cases?limit=100`, one tenant", tenants: one, path: () => "/cases?limit=100" },
    { name: `\`GET /cases?limit=100\`, ${tenantCount} tenants in turns`, tenants, path: () => "/cases?limit=100" },
    { name: `\`GET /cases?status=OPEN&limit=100\`, ${tenantCount} tenants`, tenants, path: () => "/cases?status=OPEN&limit=100" },
  ];
  say("| what | off, 1/s | on, 1/s | change | off, CPU µs | on, CPU µs | change |");
  say("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const reads of all) say(await compare(sides, bench, reads));
  for (const { service, agent } of Object.values(sides)) {
    agent.destroy();
    await service.stop();
  }
} finally {
  await bench.stop();
}
