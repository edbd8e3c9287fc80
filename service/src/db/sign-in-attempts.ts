import type { Queryable } from "./database.ts";
import { sql } from "./sql.ts";

export type Attempt = { subject_hash: Buffer; max: number; now: string; since: string };

// Null: counted, as a failure until it turns out to be none, so that many at once cannot slip by. Else the time of the
// oldest attempt that stands in the way.
export async function claimAttempt(tx: Queryable, { subject_hash, max, now, since }: Attempt): Promise<string | null> {
  const rows = await tx.query(sql`
    insert into sign_in_attempts as a (subject_hash, attempted_at, last_at)
    values (${subject_hash}, array[${now}::timestamptz(3)], ${now})
    on conflict (subject_hash) do update
    set attempted_at = array(select at from unnest(a.attempted_at) as at where at > ${since}::timestamptz) || excluded.attempted_at,
      last_at = excluded.last_at
    where (select count(*) from unnest(a.attempted_at) as at where at > ${since}::timestamptz) < ${max}
    returning 1 as claimed`);
  if (rows.length === 1) return null;
  const [oldest] = await tx.query<{ at: string }>(sql`
    select min(at)::timestamptz as at
    from sign_in_attempts, unnest(attempted_at) as at
    where subject_hash = ${subject_hash} and at > ${since}::timestamptz`);
  return oldest?.at ?? now;
}

// Takes one attempt back.
export async function releaseAttempt(tx: Queryable, released: { subject_hash: Buffer; at: string }): Promise<void> {
  await tx.query(sql`
    update sign_in_attempts
    set attempted_at = attempted_at[:array_position(attempted_at, ${released.at}::timestamptz(3)) - 1]
      || attempted_at[array_position(attempted_at, ${released.at}::timestamptz(3)) + 1:]
    where subject_hash = ${released.subject_hash} and ${released.at}::timestamptz(3) = any(attempted_at)`);
}

export async function deleteAttempts(tx: Queryable, subjectHash: Buffer): Promise<void> {
  await tx.query(sql`
    delete from sign_in_attempts
    where subject_hash = ${subjectHash}`);
}
