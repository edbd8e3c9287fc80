import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type Attempt = { subject_hash: Buffer; free: number; waitSecondsMax: number; now: string; since: string };

// Returns null if the attempt may be checked. It counts as a failure until it succeeds, so that parallel attempts cannot slip by.
// Otherwise returns the time from which the next attempt is accepted. After the free attempts, the wait doubles with each
// failure.
export async function claimAttempt(tx: Queryable, attempt: Attempt): Promise<string | null> {
  const { subject_hash, free, waitSecondsMax, now, since } = attempt;
  const rows = await tx.query(sql`
    insert into sign_in_attempts as a (subject_hash, attempted_at, last_at)
    values (${subject_hash}, array[${now}::timestamptz(3)], ${now})
    on conflict (subject_hash) do update
    set attempted_at = array(select at from unnest(a.attempted_at) as at where at > ${since}::timestamptz) || excluded.attempted_at,
      last_at = excluded.last_at
    where (
      select count(*) < ${free}
        or max(at) + make_interval(secs => least(power(2, least(count(*) - ${free}, 30)), ${waitSecondsMax})) <= ${now}::timestamptz
      from unnest(a.attempted_at) as at
      where at > ${since}::timestamptz
    )
    returning 1 as claimed`);
  if (rows.length === 1) return null;
  const [row] = await tx.query<{ until: string | null }>(sql`
    select (max(at) + make_interval(secs => least(power(2, least(count(*) - ${free}, 30)), ${waitSecondsMax})))::timestamptz(3) as until
    from sign_in_attempts, unnest(attempted_at) as at
    where subject_hash = ${subject_hash} and at > ${since}::timestamptz`);
  return row?.until ?? now;
}

// Takes one attempt back. A subject without attempts needs no row.
export async function releaseAttempt(tx: Queryable, released: { subject_hash: Buffer; at: string }): Promise<void> {
  await tx.query(sql`
    update sign_in_attempts
    set attempted_at = attempted_at[:array_position(attempted_at, ${released.at}::timestamptz(3)) - 1]
      || attempted_at[array_position(attempted_at, ${released.at}::timestamptz(3)) + 1:]
    where subject_hash = ${released.subject_hash} and ${released.at}::timestamptz(3) = any(attempted_at)`);
  await tx.query(sql`
    delete from sign_in_attempts
    where subject_hash = ${released.subject_hash} and attempted_at = '{}'`);
}

// Deletes a few subjects whose last attempt has left the window. Skips locked rows, so attempts never wait for each other here.
export async function deleteOldAttempts(tx: Queryable, { since, limit }: { since: string; limit: number }): Promise<void> {
  await tx.query(sql`
    delete from sign_in_attempts
    where subject_hash = any(array(
      select subject_hash
      from sign_in_attempts
      where last_at <= ${since}::timestamptz
      order by last_at
      limit ${limit}
      for update skip locked
    ))`);
}
