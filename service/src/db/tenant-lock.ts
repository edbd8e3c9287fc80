import { DatabaseError, escapeIdentifier, type Client } from "pg";
import { codeOf, type Database } from "./postgres/database.ts";
import { takeLock } from "./postgres/lock-wait.ts";
import { sql } from "./postgres/sql.ts";

// The role that tenants' requests run under. It owns nothing and cannot log in, so the tables' policies apply to it.
export const tenantRole = "casehound_tenant";
const insufficientPrivilege = "42501";
// The role does not exist, or this user may not set it.
const cannotTake = new Set(["22023", insufficientPrivilege]);
// Roles belong to the whole server, so the service of another database may create it at the same moment.
const alreadyThere = new Set(["42710", "23505"]);

// Turns the lock on. Returns null, or the reason why it is not possible.
export async function openTenantLock(database: Database): Promise<string | null> {
  const fault = await prepareRole(database);
  if (fault !== null) return fault;
  if (!(await canLockTenants(database))) return `the tables' policies do not apply to the role ${tenantRole}`;
  database.lockTenants(tenantRole);
  return null;
}

async function prepareRole(database: Database): Promise<string | null> {
  const client = await database.connect();
  try {
    // If several processes start at once, one of them creates the role.
    await takeLock(client, "tenantRole");
    await makeRole(client);
    await takeRole(client);
    await grantTables(client);
    await grantFunctions(client);
    return null;
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege || !(error instanceof DatabaseError)) throw error;
    return `the database user can neither create nor set the role ${tenantRole}: ${error.message}`;
  } finally {
    await client.end();
  }
}

// Checks on a connection like those that tenants' requests will use.
export async function canLockTenants(database: Database): Promise<boolean> {
  let client: Client;
  try {
    client = await database.connect({ role: tenantRole });
  } catch (error) {
    if (cannotTake.has(codeOf(error))) return false;
    throw error;
  }
  try {
    const { rows } = await client.query<{ is_locking: boolean | null }>(
      `select bool_and(row_security_active(oid)) as is_locking
       from pg_class
       where relnamespace = current_schema()::regnamespace and relrowsecurity`,
    );
    return rows[0]?.is_locking === true;
  } finally {
    await client.end();
  }
}

// Whether the policies apply to the user itself. If they do, it sees no tenant's rows.
export async function isBound(database: Database): Promise<boolean> {
  const [row] = await database.query<{ is_bound: boolean | null }>(sql`
    select bool_or(row_security_active(oid)) as is_bound
    from pg_class
    where relnamespace = current_schema()::regnamespace and relrowsecurity`);
  return row?.is_bound === true;
}

async function makeRole(client: Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_roles where rolname = $1", [tenantRole]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create role ${tenantRole} nologin`);
  } catch (error) {
    if (!alreadyThere.has(codeOf(error))) throw error;
  }
}

// A user that may create roles is not thereby allowed to set them.
async function takeRole(client: Client): Promise<void> {
  try {
    await client.query(`set role ${tenantRole}`);
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    await client.query(`grant ${tenantRole} to current_user`);
    await client.query(`set role ${tenantRole}`);
  }
  await client.query("reset role");
}

// Grants access only to the tables with policies. The service's keys and secrets are excluded, and so are partitions, which have
// no policies of their own.
async function grantTables(client: Client): Promise<void> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select current_schema() as schema, relname as name
     from pg_class
     where relnamespace = current_schema()::regnamespace
       and relrowsecurity
       and not (
         has_table_privilege($1, oid, 'select') and has_table_privilege($1, oid, 'insert')
         and has_table_privilege($1, oid, 'update') and has_table_privilege($1, oid, 'delete')
       )`,
    [tenantRole],
  );
  const [first] = rows;
  if (!first) return;
  const schema = escapeIdentifier(first.schema);
  await client.query(`grant usage on schema ${schema} to ${tenantRole}`);
  const tables = rows.map(({ name }) => `${schema}.${escapeIdentifier(name)}`).join(", ");
  await client.query(`grant select, insert, update, delete on ${tables} to ${tenantRole}`);
}

// Functions that run as the owner check the tenant themselves. Nobody else may call them.
async function grantFunctions(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name
     from pg_proc
     where pronamespace = current_schema()::regnamespace and prosecdef and not has_function_privilege($1, oid, 'execute')`,
    [tenantRole],
  );
  if (rows.length === 0) return;
  await client.query(`grant execute on function ${rows.map(({ name }) => name).join(", ")} to ${tenantRole}`);
}
