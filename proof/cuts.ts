import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CuttingProxy } from "./cuts/proxy.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";
import { ApiCaller } from "./writers/call.ts";
import { Ledger, audit } from "./writers/ledger.ts";
import { Writer } from "./writers/writer.ts";

const cutsWanted = { short: 60, full: 2_400 };
const writersMax = 16;
const chance = 0.35;

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const stand = await Stand.open();
  const { host, user, database } = stand.postgres.address;
  const proxy = await CuttingProxy.open(join(host, ".s.PGSQL.5432"), random.fork("proxy"));
  try {
    const tenant = await stand.tenant();
    const behind = { DATABASE_URL: `postgresql://${user}@127.0.0.1:${proxy.port}/${database}`, LOG_LEVEL: "silent" };
    const service = await stand.start(behind);
    const line = new ApiCaller(service.port, tenant);
    await line.signIn();
    const ledger = new Ledger();
    const writers = Array.from({ length: writersMax }, (_, index) => {
      const name = `writer-${index}`;
      return new Writer(name, { line, ledger, random: random.fork(name), appKey: tenant.app_key });
    });
    await Promise.all(writers.map((writer) => writer.begin()));
    const stopping = new AbortController();
    proxy.chance = chance;
    const running = Promise.all(writers.map((writer) => writer.run(stopping.signal)));
    while (proxy.total < cutsWanted[scale] && ledger.violations.length === 0) {
      progress(proxy.total, cutsWanted[scale], "cuts");
      await sleep(50);
    }
    proxy.chance = 0;
    stopping.abort();
    await running;
    await stand.drained(tenant.tenant_id);
    const client = await stand.database.connect();
    const { states, scored } = await audit(ledger, client, tenant.tenant_id);
    await client.end();
    const byKind = Object.fromEntries([...proxy.done].map(([kind, times]) => [kind, times]));
    return {
      figures: {
        cuts: proxy.total,
        ...byKind,
        requests: ledger.requests,
        "no known outcome, sent again under the same key": ledger.unknown,
        "found by a replay to have been applied": ledger.replays,
        "reported as contended, and not applied": ledger.contended,
        "case changes in the log": ledger.changes.size,
        "states looked up": states,
        "activities scored, each once": scored,
      },
      violations: ledger.violations,
    };
  } finally {
    await stand.close();
    await proxy.close();
  }
}

export const cuts: Part = {
  name: "cuts",
  title: "Cut database connections",
  claim:
    "A proxy between the service and PostgreSQL drops connections before or after it forwards a COMMIT, delays the COMMIT, or half-closes the connection. The response is then 500 or 502, and sending the same request under the same key shows the outcome: the change was applied once, or it is applied now. `transaction-contended` is returned only if nothing was applied.",
  run,
};
