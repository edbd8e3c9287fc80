import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

// Tables that the service writes for itself, at its own pace.
const ownTables = ["engine_turns", "service_settings", "issuer_state", "signing_keys", "sign_in_attempts"];

export type Digest = Map<string, { rows: number; content: string }>;

type Row = { name: string; rows: number; content: string };

// A digest of the content of every table. A request without effect leaves it unchanged.
export async function digestOf(client: Client): Promise<Digest> {
  const tables = await client.query<{ name: string }>(
    `select relname as name
     from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> all ($1)`,
    [ownTables],
  );
  const each = tables.rows.map(
    ({ name }) =>
      `select '${name}' as name, count(*)::int as rows, coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as content
       from "${name}" t`,
  );
  const { rows } = await client.query<Row>(each.join("\nunion all\n"));
  return new Map(rows.map(({ name, ...rest }) => [name, rest]));
}

export function changedTables(before: Digest, after: Digest): string[] {
  return [...after].filter(([name, { content }]) => before.get(name)?.content !== content).map(([name]) => name);
}

// Waits until the engine is idle: three digests in a row are equal.
export async function settled(client: Client): Promise<Digest> {
  let before = await digestOf(client);
  for (let same = 0; same < 2;) {
    await sleep(300);
    const after = await digestOf(client);
    same = changedTables(before, after).length === 0 ? same + 1 : 0;
    before = after;
  }
  return before;
}
