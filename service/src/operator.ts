import { Client, DatabaseError } from "pg";
import { ConfigFault } from "./config.ts";
import { ClusterFault } from "./db/citus/distribute.ts";
import { EmbeddedFault } from "./db/postgres/cluster.ts";
import { readServers } from "./db/postgres/database-url.ts";
import { ReadOnlyServer, codeOf } from "./db/postgres/faults.ts";
import { NoServer } from "./db/postgres/hosts.ts";
import { LockFault } from "./db/postgres/lock-wait.ts";
import { MigrationFault } from "./db/postgres/migrate.ts";
import { PoolerFault } from "./db/postgres/session.ts";
import { Failure } from "./domain/failure.ts";

// What is wrong, and how to fix it.
export type Trouble = { detail: string; next: string };

// Whether the operator can fix the error. Such an error is shown in one line with exit code 2, in every command. Anything else is
// a bug and is shown in full.
export function isOperators(error: unknown): boolean {
  return [ClusterFault, ConfigFault, EmbeddedFault, LockFault, MigrationFault, PoolerFault].some((kind) => error instanceof kind);
}

// What is shown of an error that ends a process.
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  return (isPlain(error) ? error.message : error.stack) || code;
}

// Errors of the system, such as a folder that cannot be opened, need no stack either.
export function isPlain(error: unknown): boolean {
  return isOperators(error) || /^E[A-Z]+$/.test(codeOf(error));
}

// What the operator can do, by SQLSTATE or system error code. `role` is the one that DATABASE_URL logs in as.
const steps: [code: RegExp, next: (role: string) => string][] = [
  [
    /^42501$/,
    (role) =>
      `the role ${role} needs the privileges of the tables' owner: grant <owner> to ${role}, or use the owner in DATABASE_URL`,
  ],
  [/^28/, (role) => `check the user ${role}, the password, and whether pg_hba.conf allows the connection`],
  [/^3D000$/, () => "create that database, or use another"],
  [
    /^53300$/,
    () =>
      "all connections are in use: raise max_connections (or the limit of the role or the database), or close other connections",
  ],
  [/^(53100|58030|ENOSPC)$/, () => "free some space on the database's disk"],
  [/^25006$/, () => "it is read-only, like a standby: use the primary"],
  [/^57P/, () => "it is starting or stopping: try again in a moment"],
];

// Explains an error from opening or querying the database.
export function tellDatabase(error: unknown, databaseUrl: string | null): Trouble {
  const root = rootOf(error);
  const parts = root instanceof AggregateError ? root.errors : [root];
  const detail = parts.map((each) => (each instanceof Error ? each.message : String(each)).replaceAll("\n", " ")).join(", ");
  const known = steps.find(([code]) => code.test(codeOf(root)));
  if (known) return { detail, next: known[1](roleOf(databaseUrl)) };
  if (root instanceof NoServer)
    return { detail: root.message, next: "start the primary or promote a standby, or correct the hosts in DATABASE_URL" };
  if (databaseUrl === null) return { detail, next: "look in the file postgres.log in DATA_DIR" };
  return { detail, next: "check that the database is running, and the host, port, user, password and name in DATABASE_URL" };
}

// Whether the database is unavailable or rejects us, which the operator can fix.
export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof Failure) return error.code === "bad-gateway" && error.cause instanceof Error;
  if (error instanceof NoServer || error instanceof ReadOnlyServer) return true;
  if (error instanceof DatabaseError) return steps.some(([code]) => code.test(codeOf(error)));
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return parts.some((each) => each instanceof Error && "syscall" in each && /^(connect|getaddrinfo)$/.test(String(each.syscall)));
}

// The same explanation as a one-line fault.
export function databaseFault(error: unknown, databaseUrl: string | null): unknown {
  if (isOperators(error)) return error;
  const { detail, next } = tellDatabase(error, databaseUrl);
  const where = databaseUrl === null ? "the embedded database" : "DATABASE_URL";
  return new ConfigFault(`${where}: ${detail}; ${next}`, { cause: error });
}

function rootOf(error: unknown): unknown {
  const isWrapped = (error instanceof Failure || error instanceof ConfigFault) && error.cause instanceof Error;
  return isWrapped ? rootOf(error.cause) : error;
}

function roleOf(databaseUrl: string | null): string {
  const read = databaseUrl === null ? "none" : readServers(databaseUrl);
  const first = typeof read === "string" ? undefined : read.hosts[0];
  return (first && new Client({ connectionString: first.url }).user) ?? "casehound";
}
