// Measures how long an answer at log-in or checkout takes: on an idle service, with events in the background, and at the highest
// rate that the service can sustain.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { makeLoad, replay } from "../load-replay.ts";
import type { Driven, Shot } from "./drive.ts";
import type { Context, Findings, Part } from "./part.ts";
import { openStore, origin, startOn, type Store, type StoreService } from "./store.ts";

const seconds = { quick: 3, full: 30 };
const backgroundRate = 3_000;
const accounts = 5_000;
// More requests than any run can send.
const perSecondMax = 4_000;

// The load of a run. Without a rate, every connection sends its next request as soon as it has a response.
type Run = { name: string; connections: number; rate?: number; background?: number; isSplit?: boolean };
type Measured = { run: Run; driven: Driven; notFinal: number };

const runs: Run[] = [
  { name: "idle, one caller", connections: 1 },
  { name: "idle, one caller, API and engine in two processes", connections: 1, isSplit: true },
  { name: "idle, 100 a second from 16 callers", connections: 16, rate: 100 },
  { name: "3,000 events/s in the background, one caller", connections: 1, background: backgroundRate },
  {
    name: "3,000 events/s in the background, 100 a second from 16 callers",
    connections: 16,
    rate: 100,
    background: backgroundRate,
  },
  { name: "1,500 a second from 64 callers", connections: 64, rate: 1_500 },
  { name: "as many as possible, 64 callers", connections: 64 },
];

function shotsOf(slug: string, count: number): Shot[] {
  const types = ["login_succeeded", "login_succeeded", "login_failed", "payment", "password_changed"];
  return Array.from({ length: count }, (_, n): Shot => {
    const account = Math.floor(Math.random() * accounts);
    const type = types[n % types.length] ?? "payment";
    const body = {
      activity_id: randomUUID(),
      type,
      occurred_at: new Date().toISOString(),
      website_account_id: `member-${account}`,
      session_id: `session-${account}`,
      device_id: `device-${account}`,
      ip: `10.${account % 200}.${n % 3}.${account % 250}`,
      user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
      ...(type === "payment" && { amount: 5 + (n % 200), currency: "EUR", payee_id: `payee-${n % 50}` }),
    };
    return { method: "POST", path: `/v2/${slug}/assessments`, body: JSON.stringify(body) };
  });
}

async function measure(context: Context, store: Store, run: Run): Promise<Measured> {
  const { bench, driver, scale } = context;
  const env = { ROLES: run.isSplit === true ? "api,collector" : "api,collector,engine" };
  const service = await startOn(bench, store, { env });
  const engine = run.isSplit === true ? await startOn(bench, store, { env: { ROLES: "engine" } }) : null;
  try {
    const [{ slug, tenant_id: tenantId } = { slug: "", tenant_id: "" }] = store.tenants;
    const headers = { authorization: `Bearer ${service.tokens[0]}` };
    const asked = { url: service.url, headers, connections: run.connections, once: true };
    await driver.run({ ...asked, seconds: 2, shots: shotsOf(slug, 1_000) });
    const duration = seconds[scale];
    const stopping = new AbortController();
    const background = await startBackground(context, store, service, run, stopping.signal);
    await background.began;
    const began = new Date().toISOString();
    const shots = shotsOf(slug, duration * Math.ceil(run.rate ?? perSecondMax));
    const rate = run.rate === undefined ? {} : { rate: run.rate };
    const driven = await driver.run({ ...asked, seconds: duration, shots, ...rate });
    stopping.abort();
    await background.ended;
    if (driven.failed > 0) throw new Error(`${driven.failed} of ${driven.requests} failed: ${driver.failure}`);
    return { run, driven, notFinal: await countNotFinal(store, tenantId, began) };
  } finally {
    await engine?.stop();
    await service.stop();
  }
}

type Background = { began: Promise<unknown>; ended: Promise<unknown> };

async function startBackground(
  { bench, scale }: Context,
  store: Store,
  service: StoreService,
  { background: rate }: Run,
  signal: AbortSignal,
): Promise<Background> {
  if (rate === undefined) return { began: Promise.resolve(), ended: Promise.resolve() };
  const [{ slug, app_key: appKey } = { slug: "", app_key: "" }] = store.tenants;
  const target = { baseUrl: service.url, tenant: slug, token: async () => service.tokens[0] ?? "" };
  const load = await makeLoad(join(bench.folder, "background"), { rate, seconds: seconds[scale] + 15, appKey, origin, target });
  const ended = replay(load, new URL(service.url), signal);
  return { began: sleep(load.startMs + 5_000 - Date.now()), ended };
}

async function countNotFinal({ database }: Store, tenantId: string, since: string): Promise<number> {
  const text = `
    select count(*) filter (where reply is null or reply not like '%"is_final":true%') as others
    from assessments
    where tenant_id = $1 and received_at >= $2`;
  const [row] = await database.query<{ others: number }>(statement(text, [tenantId, since]));
  return row?.others ?? 0;
}

const whole = (value: number) => Math.round(value).toLocaleString("en");
const shareOf = ({ notFinal, driven }: Measured) => notFinal / Math.max(driven.requests, 1);
const percent = (share: number) => `${(share * 100).toFixed(2)} %`;

async function run(context: Context): Promise<Findings> {
  const store = await openStore(context, { cases: 0 });
  const found: Measured[] = [];
  for (const [done, each] of runs.entries()) {
    context.progress(done, runs.length, `assessments: ${each.name}`);
    found.push(await measure(context, store, each));
  }
  const [idle, , , loadedOne, loaded, steady, most] = found;
  if (!idle || !loadedOne || !loaded || !steady || !most) throw new Error("a run is missing");
  const worstP99 = Math.max(loadedOne.driven.p99, loaded.driven.p99);
  const worstShare = Math.max(shareOf(loadedOne), shareOf(loaded));
  return {
    targets: [
      {
        name: "assessment on an idle service, one caller, p50 and p99",
        wanted: "under 10 and 30 ms",
        measured: `${idle.driven.p50.toPrecision(3)} and ${idle.driven.p99.toPrecision(3)} ms`,
        isReached: idle.driven.p50 < 10 && idle.driven.p99 < 30,
      },
      {
        name: "assessment with 3,000 events/s in the background, p99 and share of answers that are not final",
        wanted: "under 100 ms and 1 %",
        measured: `${worstP99.toPrecision(3)} ms, ${percent(worstShare)}`,
        isReached: worstP99 < 100 && worstShare < 0.01,
      },
      {
        name: "assessments per second, sustained",
        wanted: "1,500",
        measured: `${whole(steady.driven.perSecond)}, and at most ${whole(most.driven.perSecond)}`,
        isReached: steady.driven.perSecond >= 1_485,
      },
    ],
    tables: [
      {
        title: "Assessments",
        note: "One process runs the API, the collector and the engine, unless stated otherwise. The deadline is 150 ms. Every request is about one of 5,000 accounts. The load generator and the database are on the same machine.",
        columns: ["load", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "not final"],
        rows: found.map((each) => [
          each.run.name,
          whole(each.driven.perSecond),
          ...[each.driven.p50, each.driven.p99, each.driven.p999].map((ms) => ms.toPrecision(3)),
          percent(shareOf(each)),
        ]),
      },
    ],
  };
}

export const assessments: Part = { name: "assessments", title: "Assessments", run };
