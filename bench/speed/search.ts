// How long a search, the counts of saved views and the figures of a month take in a large store, and how fast a list can be exported
// as CSV.
import { cpuSeconds, memoryMb, percentile } from "../machine.ts";
import type { Context, Findings, Part } from "./part.ts";
import { fillTables } from "./store-load.ts";
import { openStore, startOn, type Store, type StoreService } from "./store.ts";

const searchMsMax = 100;
const rowsPerSecondMin = 20_000;
const sizes: Record<Context["scale"], number> = { quick: 100_000, full: 5_000_000 };
const effort = { quick: { rounds: 3, rows: 20_000 }, full: { rounds: 40, rows: 500_000 } };

export const search: Part = { name: "search", title: "Search and export", run };

async function run(context: Context): Promise<Findings> {
  const store = await openStore(context, { cases: sizes[context.scale] });
  await nameThings(context, store);
  const service = await startOn(context.bench, store);
  try {
    const searches = await measureSearches(context, store, service);
    const reads = await measureReads(context, service);
    const exports = await measureExports(context, service);
    return report(store, searches, reads, exports);
  } finally {
    await service.stop();
  }
}

const namedMax = 1_000_000;

// Notes, e-mail addresses, devices, addresses and payees, which the store's cases do not have.
async function nameThings({ progress }: Context, { database, cases, tenants }: Store): Promise<void> {
  const texts = [
    `insert into links (tenant_id, kind, a, b, first_seen, last_seen)
     select $1::uuid, k.kind, 'member-' || n, case k.kind
         when 'account-email' then 'member.' || md5(n::text) || '@example.' || (array['com', 'org', 'net'])[1 + n % 3]
         when 'account-device' then 'device-' || md5((n / 2)::text)
         when 'account-payee' then 'payee-' || n % 1000
         else (n % 200 + 1) || '.' || n / 200 % 256 || '.' || n / 51200 % 256 || '.7'
       end, now(), now()
     from generate_series(1, $2::int) as n
     cross join unnest(array['account-email', 'account-device', 'account-payee', 'account-ip']) as k (kind)`,
    `insert into case_notes (tenant_id, case_id, note_id, text, mentions, created_at, created_by, case_version)
     select $1::uuid, case_id, case_id, 'Asked the bank about transfer ' || substr(md5(case_id::text), 9, 8) || '.', '{}', created_at, 'bench', 2
     from cases
     where tenant_id = $1::uuid
     limit $2::int`,
  ];
  const told = (share: number) => progress(Math.round(share * 100), 100, "percent of the names and notes loaded");
  await fillTables(database, { tables: ["links", "case_notes"], progress: told }, async (clients) => {
    const counts = [tenants[0]?.tenant_id ?? "", Math.min(Math.ceil(cases / 2), namedMax)];
    await Promise.all(texts.map(async (text, index) => clients[index]?.query(text, counts)));
  });
}

const hex = (round: number) => ((round * 2_654_435_761) % 0xffff_ffff).toString(16).padStart(8, "0");

type Searched = { name: string; ms: number[] };

// Each search is for something else, as when people type. The first round fills the caches.
async function measureSearches(context: Context, { cases }: Store, service: StoreService): Promise<Searched[]> {
  const { rounds } = effort[context.scale];
  const accounts = Math.ceil(cases / 2);
  const pick = (round: number) => 1 + ((round * 7_919 + 13) % accounts);
  const kinds: [string, (round: number) => string][] = [
    ["beginning of an account id", (round) => `member-${String(pick(round)).slice(0, 3)}`],
    ["whole account id", (round) => `member-${pick(round)}`],
    ["end of an account id", (round) => String(pick(round)).slice(-5)],
    ["part of every account id", () => "ember"],
    ["part of an e-mail address", (round) => hex(round).slice(0, 6)],
    ["part that nothing has", (round) => `zz${hex(round)}`],
    ["beginning of a device", (round) => `device-${hex(round).slice(0, 4)}`],
    ["address", (round) => `${(round % 200) + 1}.${round % 256}.`],
    ["block of addresses", (round) => `${(round % 200) + 1}.${(round % 8) * 32}.0.0/11`],
    ["payee", (round) => `payee-${round % 100}`],
    ["word of every reason", () => "customer"],
    ["phrase of a reason", () => "customer was called"],
    ["word of one reason", (round) => hex(round)],
    ["word of every note", () => "transfer"],
    ["phrase of a note", (round) => `about transfer ${hex(round).slice(0, 4)}`],
  ];
  const found: Searched[] = [];
  for (const [name, textOf] of kinds) {
    const ms: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const startMs = performance.now();
      await ask(service, textOf(round));
      if (round > 0) ms.push(performance.now() - startMs);
    }
    context.progress(found.length, kinds.length, name);
    found.push({ name, ms });
  }
  return found;
}

function ask(service: StoreService, text: string): Promise<void> {
  return call(service, `/search?q=${encodeURIComponent(text)}`);
}

async function call({ url, tokens }: StoreService, path: string, body?: unknown): Promise<void> {
  const response = await fetch(`${url}/v2/bench-0${path}`, {
    headers: { authorization: `Bearer ${tokens[0]}`, "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}

const viewFilters = [
  {},
  { status: "OPEN" },
  { status: "OPEN", min_score: 4, label: "Bot" },
  { status: "CLOSED", updated_within_hours: 24 },
  { claimed_by: "none", status: "OPEN" },
  { new_evidence: true },
  { user_is_blocked: true, label: "Synthetic" },
  { disposition: "FALSE_POSITIVE" },
  { website_account_id: "UNKNOWN" },
  { created_before: "2020-01-01T00:00:00Z" },
];

// The counts of ten views, and each of the figures over 30 days.
async function measureReads(context: Context, service: StoreService): Promise<Searched[]> {
  const { rounds } = effort[context.scale];
  for (const [at, filter] of viewFilters.entries()) await call(service, "/views", { name: `View ${at}`, filter });
  const kinds: [string, string][] = [
    [`counts of ${viewFilters.length} views`, "/views/counts"],
    ["closes by person, 30 days", "/figures/people"],
    ["closes by person and day, 30 days", "/figures/days"],
    ["precision, 30 days", "/figures/precision"],
    ["money, 30 days", "/figures/money"],
  ];
  const found: Searched[] = [];
  for (const [name, path] of kinds) {
    const ms: number[] = [];
    for (let round = 0; round <= Math.min(rounds, 10); round++) {
      const startMs = performance.now();
      await call(service, path);
      if (round > 0) ms.push(performance.now() - startMs);
    }
    found.push({ name, ms });
  }
  return found;
}

type Exported = { name: string; rows: number; seconds: number; grownMb: number; cpu: number };

async function measureExports(context: Context, service: StoreService): Promise<Exported[]> {
  const { rows } = effort[context.scale];
  const paths = {
    "all cases, newest first": "/cases?",
    "open cases, highest risk first": "/cases?status=OPEN&sort=-overall_risk_score&",
    accounts: "/enduseraccounts?",
  };
  const found: Exported[] = [];
  for (const [name, path] of Object.entries(paths)) {
    await read(service, path, 5_000);
    const before = { mb: memoryMb(service.pid), cpu: cpuSeconds(service.pid), ms: performance.now() };
    const got = await read(service, path, rows);
    const seconds = (performance.now() - before.ms) / 1000;
    found.push({ name, rows: got.rows, seconds, grownMb: got.mostMb - before.mb, cpu: cpuSeconds(service.pid) - before.cpu });
  }
  return found;
}

// Reads until there are enough rows, and then disconnects.
async function read({ url, tokens, pid }: StoreService, path: string, rows: number): Promise<{ rows: number; mostMb: number }> {
  const headers = { authorization: `Bearer ${tokens[0]}`, accept: "text/csv" };
  const leaving = new AbortController();
  const response = await fetch(`${url}/v2/bench-0${path}`, { headers, signal: leaving.signal });
  if (!response.ok || !response.body) throw new Error(`export: ${response.status} ${await response.text()}`);
  let [seen, mostMb] = [-1, 0];
  for await (const piece of response.body) {
    for (const byte of piece) if (byte === 10) seen++;
    mostMb = Math.max(mostMb, memoryMb(pid));
    if (seen >= rows) break;
  }
  leaving.abort();
  return { rows: seen, mostMb };
}

function report({ cases }: Store, searches: Searched[], reads: Searched[], exports: Exported[]): Findings {
  const p95 = (each: Searched) => percentile(each.ms, 0.95);
  const slowest = searches.toSorted((a, b) => p95(b) - p95(a))[0];
  const slowestExport = exports.toSorted((a, b) => a.rows / a.seconds - b.rows / b.seconds)[0];
  const rate = slowestExport ? slowestExport.rows / slowestExport.seconds : 0;
  const size = cases.toLocaleString("en");
  return {
    targets: [
      {
        name: `a search at ${size} cases, p95, every kind of text`,
        wanted: `at most ${searchMsMax} ms`,
        measured: slowest ? `${p95(slowest).toFixed(0)} ms (${slowest.name})` : "",
        isReached: slowest !== undefined && p95(slowest) <= searchMsMax,
      },
      {
        name: "rows of a CSV export per second, slowest list",
        wanted: `at least ${rowsPerSecondMin.toLocaleString("en")}`,
        measured: `${Math.round(rate).toLocaleString("en")} (${slowestExport?.name})`,
        isReached: rate >= rowsPerSecondMin,
      },
    ],
    tables: [
      {
        title: `Search at ${size} cases, ms`,
        note: "One connection, warm cache. Each search is for another text.",
        columns: ["text", "p50", "p95", "most"],
        rows: searches.map((each) => [each.name, ...[0.5, 0.95, 1].map((share) => percentile(each.ms, share).toFixed(1))]),
      },
      {
        title: `Saved views and figures at ${size} cases, ms`,
        note: "One connection, warm cache. The figures read the closes of the last 30 days of a year.",
        columns: ["request", "p50", "p95", "most"],
        rows: reads.map((each) => [each.name, ...[0.5, 0.95, 1].map((share) => percentile(each.ms, share).toFixed(1))]),
      },
      {
        title: `CSV exports at ${size} cases`,
        note: "One reader. The memory is how much the service's memory grew while it sent the export.",
        columns: ["list", "rows", "rows/s", "CPU of the service, µs per row", "memory, MB"],
        rows: exports.map((each) => [
          each.name,
          each.rows.toLocaleString("en"),
          Math.round(each.rows / each.seconds).toLocaleString("en"),
          ((each.cpu / each.rows) * 1e6).toFixed(1),
          each.grownMb.toFixed(0),
        ]),
      },
    ],
  };
}
