import { join } from "node:path";
import type { Logger } from "pino";
import { openAddressData } from "../address-data.ts";
import { makeSetUpLink } from "../api/people/links.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/postgres/database.ts";
import { demoEnrichment, demoOrigin, startDemo } from "../demo.ts";
import type { Clock } from "../engine/cases.ts";
import type { Enrichment } from "../engine/enrichment.ts";
import { allowOrigin, demoCredentials, type DemoCredentials } from "../tenancy.ts";

export type Welcome = {
  demo: DemoCredentials | null;
  // For the first user of the embedded database's tenant, while it has none.
  setUpLink: string | null;
};
type Hosting = {
  database: Database;
  credentials: Promise<DemoCredentials | null>;
  clock: Clock;
  log: Logger;
  stops: (() => Promise<void>)[];
  url: string;
  ownUrl: string;
};

// Finds or makes the demo's credentials. Called early in a start, because comparing a secret with its hash takes a while.
export function openDemo(config: Config, database: Database, clock: Clock): Promise<DemoCredentials | null> {
  if (config.databaseUrl !== null) return Promise.resolve(null);
  const credentials = demoCredentials(database, join(config.dataDir, "demo-credentials.json"), clock);
  // A failure is reported where it is awaited, unless the start has failed before that.
  credentials.catch(() => {});
  return credentials;
}

// For somebody who tries the service out: a tenant with credentials, a shop that sends activity to it, and a link for its first
// user. Only with the embedded database, once the service accepts requests.
export async function welcome(config: Config, hosting: Hosting): Promise<Welcome> {
  const { database, clock, log, stops, url, ownUrl } = hosting;
  if (config.databaseUrl !== null) return { demo: null, setUpLink: null };
  const demo = await hosting.credentials;
  if (demo && demo.client_secret !== null && hasDemo(config)) {
    const { tenant, client_id: clientId, client_secret: clientSecret } = demo;
    const appKey = await allowOrigin(database, tenant, demoOrigin);
    stops.push(startDemo({ url: ownUrl, tenant, clientId, clientSecret, appKey }, log));
  }
  const first = demo?.tenant ?? config.bootstrap?.tenant;
  const wanted = { publicUrl: url, now: clock.now() };
  const setUp =
    first !== undefined && config.roles.has("api") ? await database.transaction((tx) => makeSetUpLink(tx, first, wanted)) : null;
  return { demo, setUpLink: setUp?.url ?? null };
}

// Whether the simulated shop runs. Its visitors come from a simulated internet that no real address file covers, so
// `openEnrichment` asks too.
function hasDemo({ databaseUrl, hasDemo, roles }: Config): boolean {
  return databaseUrl === null && hasDemo && roles.has("api") && roles.has("collector") && roles.has("engine");
}

export function openEnrichment(config: Config, clock: Clock): Enrichment {
  if (config.mmdbFiles.length === 0 && hasDemo(config)) return demoEnrichment(Date.parse(clock.now()));
  return openAddressData(config.mmdbFiles);
}
