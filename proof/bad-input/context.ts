import type { Client } from "pg";
import type { Random } from "@casehound/simulator/random";
import type { Answer } from "./answer.ts";
import { changedTables, digestOf } from "./digest.ts";
import type { DocumentOperation } from "./document.ts";
import type { Ledger } from "./ledger.ts";
import type { World } from "./world.ts";
import type { Pool } from "./wrong-values.ts";
import { eachOf, type Lines } from "./wire.ts";

export type Context = {
  // Three tenants: for requests that must be rejected, that must be accepted, and that may be either.
  world: World;
  spare: World;
  loose: World;
  operations: DocumentOperation[];
  lines: Lines;
  ledger: Ledger;
  // A direct connection to the database.
  client: Client;
  random: Random;
  pool: Pool;
};

// Returns null if the response is the one that the contract names.
type Judge = (answer: Answer) => string | null;
export type Asked = { bytes: Buffer; judge: Judge; about: string };

const batchMax = 1_000;
const atOnce = 64;

// Sends requests that must be rejected or at least change nothing. Each response is judged, and the whole database is compared
// after each batch.
export async function askWithoutEffect(context: Context, kind: string, asked: Asked[]): Promise<void> {
  const { client, ledger } = context;
  let before = await digestOf(client);
  for (let start = 0; start < asked.length; start += batchMax) {
    const batch = asked.slice(start, start + batchMax);
    await askAll(context, kind, batch);
    const after = await digestOf(client);
    const changed = changedTables(before, after);
    if (changed.length > 0) ledger.violate(kind, `${changed.join(", ")} changed by ${await culprit(context, batch)}`);
    before = after;
  }
}

export async function askAll({ lines, ledger }: Context, kind: string, asked: Asked[]): Promise<void> {
  await eachOf(asked, atOnce, async ({ bytes, judge, about }) => {
    const answer = await lines.ask(bytes);
    if (!ledger.judge(kind, bytes, answer) || !answer) return;
    const fault = judge(answer);
    if (fault !== null) ledger.violate(kind, `${about}: ${fault}, but ${answer.status} ${answer.text.slice(0, 300)}`, bytes);
  });
}

// Resends the batch one by one, because the request that changed something may do so again.
async function culprit({ client, lines }: Context, batch: Asked[]): Promise<string> {
  let before = await digestOf(client);
  for (const { bytes, about } of batch) {
    await lines.ask(bytes);
    const after = await digestOf(client);
    if (changedTables(before, after).length > 0) return `${about} | request base64 ${bytes.toString("base64").slice(0, 6_000)}`;
    before = after;
  }
  return `one of ${batch.length} requests, from ${batch[0]?.about} to ${batch.at(-1)?.about}`;
}
