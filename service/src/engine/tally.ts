import type { Queryable } from "../db/postgres/database.ts";
import {
  findBuckets,
  insertAdditions,
  insertBuckets,
  saveBuckets,
  takeAdditions,
  type BucketChange,
  type MetricBucket,
} from "../db/metric-buckets.ts";
import { Sketch, exactMax, hashOf, hashesIn, type Hash } from "../detection/sketch.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { bucketStart, levelsOf, type MetricLevel } from "../domain/metric.ts";

const sessionStart = "custom:_session_start";

// The counts that a batch adds to one bucket.
type Tally = {
  level: MetricLevel;
  at: number;
  total_events: number;
  session_starts: number;
  sessions: Hash[];
  identified: Hash[];
  ids: Hash[];
};

// `startedSessions` maps the sessions first seen in this batch to the time of their first event.
type Tallied = { activities: RecordedActivity[]; startedSessions: ReadonlyMap<string, string> };

// Counts a batch of one tenant by event time. The caller holds the tenant's turn. A bucket's sketches are far larger than what a
// batch adds to them, so additions are kept apart, and many of them are merged at once.
export async function tallyBatch(tx: Queryable, tenantId: string, { activities, startedSessions }: Tallied): Promise<void> {
  const tallies = new Tallies();
  sumUp(tallies, activities, startedSessions);
  if (tallies.all().length === 0) return;
  // The hashes of an addition are read again when it is merged, and a sketch of more members has none.
  if (activities.length > exactMax) return mergeTallies(tx, tenantId, tallies.all());
  if (await insertAdditions(tx, tenantId, tallies.all().map(bucketOf))) await mergeAdditions(tx, tenantId);
}

// The caller holds the tenant's turn.
export async function mergeAdditions(tx: Queryable, tenantId: string): Promise<void> {
  const tallies = new Tallies();
  tallies.add(await takeAdditions(tx, tenantId));
  await mergeTallies(tx, tenantId, tallies.all());
}

async function mergeTallies(tx: Queryable, tenantId: string, tallies: Tally[]): Promise<void> {
  const stored = new Map((await findBuckets(tx, tenantId, tallies)).map((bucket) => [keyOf(bucket), bucket]));
  const fresh: MetricBucket[] = [];
  const changes: BucketChange[] = [];
  for (const tally of tallies) {
    const bucket = stored.get(keyOf(tally));
    if (bucket) changes.push(changeOf(bucket, tally));
    else fresh.push(bucketOf(tally));
  }
  await Promise.all([insertBuckets(tx, tenantId, fresh), saveBuckets(tx, tenantId, changes)]);
}

function keyOf({ level, at }: { level: MetricLevel; at: number }): string {
  return `${level} ${at}`;
}

function sumUp(tallies: Tallies, activities: RecordedActivity[], startedSessions: ReadonlyMap<string, string>): void {
  for (const activity of activities) {
    const session = activity.session_id === undefined ? null : hashOf(`s:${activity.session_id}`);
    const id = idOf(activity);
    for (const tally of tallies.of(activity)) {
      tally.total_events++;
      if (session) tally.sessions.push(session);
      if (session && activity.website_account_id !== undefined) tally.identified.push(session);
      if (id) tally.ids.push(id);
    }
  }
  for (const start of startsOf(activities, startedSessions)) {
    for (const tally of tallies.of(start)) tally.session_starts++;
  }
}

// Identifies the visitor as well as possible. The prefix letter separates an account from a device of the same name.
function idOf({ website_account_id: account, device_id: device, session_id: session }: RecordedActivity): Hash | null {
  if (account !== undefined) return hashOf(`a:${account}`);
  if (device !== undefined) return hashOf(`d:${device}`);
  return session === undefined ? null : hashOf(`s:${session}`);
}

type Start = { occurred_at: string; received_at: string };

// One start per session: the browser's session start if there is one, otherwise the session's first event. A start event without
// a session id counts too.
function startsOf(activities: RecordedActivity[], startedSessions: ReadonlyMap<string, string>): Start[] {
  const nameless = activities.filter((each) => each.type === sessionStart && each.session_id === undefined);
  const starts = new Map<string, Start & { isSaid: boolean }>();
  for (const { type, session_id: session, occurred_at, received_at } of activities) {
    const firstAt = session === undefined ? undefined : startedSessions.get(session);
    if (session === undefined || firstAt === undefined) continue;
    const known = starts.get(session) ?? { occurred_at: firstAt, received_at, isSaid: false };
    const isEarliest = !known.isSaid || occurred_at < known.occurred_at;
    starts.set(session, type === sessionStart && isEarliest ? { occurred_at, received_at, isSaid: true } : known);
  }
  return [...nameless, ...starts.values()];
}

class Tallies {
  readonly #byKey = new Map<string, Tally>();
  // Most events of a batch fall into the same minute and therefore into the same buckets.
  readonly #byMinute = new Map<number, Tally[]>();

  all(): Tally[] {
    return [...this.#byKey.values()];
  }

  add(buckets: MetricBucket[]): void {
    for (const bucket of buckets) {
      const tally = this.#tally(bucket.level, bucket.at);
      tally.total_events += bucket.total_events;
      tally.session_starts += bucket.session_starts;
      tally.sessions.push(...hashesIn(bucket.sessions));
      tally.identified.push(...hashesIn(bucket.identified));
      tally.ids.push(...hashesIn(bucket.ids));
    }
  }

  // Returns the tallies in which an event of that time is counted.
  of({ occurred_at, received_at }: { occurred_at: string; received_at: string }): Tally[] {
    const occurredAt = Date.parse(occurred_at);
    const levels = levelsOf(occurredAt, Date.parse(received_at));
    const minute = bucketStart("minute", occurredAt) + levels.length;
    const known = this.#byMinute.get(minute);
    if (known) return known;
    const tallies = levels.map((level) => this.#tally(level, bucketStart(level, occurredAt)));
    this.#byMinute.set(minute, tallies);
    return tallies;
  }

  #tally(level: MetricLevel, at: number): Tally {
    const key = keyOf({ level, at });
    const known = this.#byKey.get(key);
    if (known) return known;
    const made: Tally = { level, at, total_events: 0, session_starts: 0, sessions: [], identified: [], ids: [] };
    this.#byKey.set(key, made);
    return made;
  }
}

function bucketOf(tally: Tally): MetricBucket {
  const none = new Uint8Array(0);
  return {
    ...tally,
    sessions: extended(none, tally.sessions) ?? none,
    identified: extended(none, tally.identified) ?? none,
    ids: extended(none, tally.ids) ?? none,
  };
}

function changeOf(bucket: MetricBucket, tally: Tally): BucketChange {
  return {
    ...tally,
    sessions: extended(bucket.sessions, tally.sessions),
    identified: extended(bucket.identified, tally.identified),
    ids: extended(bucket.ids, tally.ids),
  };
}

// Returns null if the sketch already contains all hashes.
function extended(encoded: Uint8Array, hashes: Hash[]): Uint8Array | null {
  if (hashes.length === 0) return null;
  const sketch = Sketch.decode(encoded);
  let hasChanged = false;
  for (const hash of hashes) hasChanged = sketch.add(hash) || hasChanged;
  return hasChanged ? sketch.encode() : null;
}
