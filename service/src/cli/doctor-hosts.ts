import type { Config } from "../config.ts";
import { readServers, type Host } from "../db/postgres/database-url.ts";
import { Database } from "../db/postgres/database.ts";
import { findServerState, type ServerState } from "../db/server-state.ts";
import { tellDatabase } from "../operator.ts";
import { fail, ok, type Check } from "./doctor-checks.ts";

const name = "host";

// Names each host of DATABASE_URL and its state, if there are several.
export async function checkHosts({ databaseUrl }: Config): Promise<Check[]> {
  const servers = databaseUrl === null ? "none" : readServers(databaseUrl);
  if (typeof servers === "string" || servers.hosts.length < 2) return [];
  const looked = await Promise.all(servers.hosts.map(look));
  const writing = looked.flatMap(({ host, state }) => (state?.is_read_only === false ? [{ host, state }] : []));
  const checks = looked.map(({ check }) => check);
  const names = writing.map(({ host }) => host.name).join(" and ");
  if (writing.length === 0)
    checks.push(fail(name, "none of the hosts accepts writes", "start the primary, or promote a standby"));
  // Several poolers may lead to one server.
  if (new Set(writing.map(({ state }) => state.started)).size > 1)
    checks.push(
      fail(name, `${names} accept writes`, "stop the one that was replaced at once: its changes are missing on the other"),
    );
  return checks;
}

type Looked = { host: Host; state: ServerState | null; check: Check };

async function look(host: Host): Promise<Looked> {
  const database = new Database({ connectionString: host.url }, { writersMax: 1 });
  try {
    const state = await findServerState(database);
    return { host, state, check: ok(name, `${host.name} ${describe(state)}`) };
  } catch (error) {
    const { detail } = tellDatabase(error, host.url);
    const next = "start it or make it reachable, or remove it from DATABASE_URL: it cannot take over";
    return { host, state: null, check: fail(name, `${host.name} cannot be used: ${detail}`, next) };
  } finally {
    await database.end();
  }
}

function describe({ version, is_standby, is_read_only, behind_ms }: ServerState): string {
  const server = `PostgreSQL ${version}`;
  if (!is_read_only) return `accepts writes (${server})`;
  if (!is_standby) return `is read-only (${server})`;
  return `is a standby${behind_ms === null ? "" : `, ${(behind_ms / 1000).toFixed(1)} s behind`} (${server})`;
}
