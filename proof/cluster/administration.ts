import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../../service/src/clock.ts";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { saveRevoked } from "../../service/src/db/tenants.ts";
import { createTenant } from "../../service/src/tenancy.ts";
import type { Settled, Town } from "./town.ts";

const revokedMsMax = 5_000;

// Tenants and clients have a copy on every node, so they change only while all nodes are up, and then on all of them at once.
// `tenant` is on a node that is up. Like a command of the command line, this opens connections of its own. In a session that was
// opened before a node was lost, the next change on all nodes fails too, because the coordinator keeps the broken connection.
export async function administrate(town: Town, tenant: Settled, state: "down" | "up"): Promise<string[]> {
  const database = town.openDatabase();
  try {
    return [...(await create(database, state)), ...(await revoke(database, tenant, state))];
  } finally {
    await database.end();
  }
}

async function create(database: Database, state: "down" | "up"): Promise<string[]> {
  const slug = `made-${randomUUID()}`;
  const made = await isDone(createTenant(database, { slug }, clock));
  const found = await database.query({ name: "", text: "select 1 as found from tenants where slug = $1", values: [slug] });
  const isWanted = state === "up";
  if (made === isWanted && found.length === (isWanted ? 1 : 0)) return [];
  return [`with a worker ${state}, a tenant was ${made ? "" : "not "}created, and ${found.length} rows are there`];
}

// A client whose revocation was refused still has access, and one whose revocation was acknowledged does not.
async function revoke(database: Database, { spare }: Settled, state: "down" | "up"): Promise<string[]> {
  const asked = { client_id: spare.clientId, now: clock.now() };
  const isRevoked = await isDone(database.transaction((tx) => saveRevoked(tx, asked)));
  const isWanted = state === "up";
  const wanted = isWanted ? 401 : 200;
  const deadline = Date.now() + (isWanted ? revokedMsMax : 0);
  let status = await spare.use();
  while (status !== wanted && Date.now() < deadline) {
    await sleep(50);
    status = await spare.use();
  }
  if (isRevoked === isWanted && status === wanted) return [];
  return [`with a worker ${state}, a client was ${isRevoked ? "" : "not "}revoked, and then got ${status}`];
}

function isDone(change: Promise<unknown>): Promise<boolean> {
  return change.then(
    () => true,
    () => false,
  );
}
