import type { DueTimes } from "../domain/due.ts";
import { defaultThresholds, type Rule, type RuleDefinition, type RuleVersion, type Thresholds } from "../domain/rule.ts";
import { askTenantIds } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type RuleRow = Row & {
  rule_id: string;
  rule_version: number;
  definition: RuleDefinition;
  updated_at: string;
  updated_by: string;
};

function toRule({ definition, rule_id, ...row }: RuleRow): RuleVersion {
  // jsonb does not keep the order of members. People read them in this order.
  const { name, expression, sentence, label, weight, about, state } = definition;
  return { rule_id, name, expression, sentence, label, weight, about, state, ...row };
}

// The current version of each rule, ordered by id.
export async function listRules(database: Queryable, tenantId: string): Promise<Rule[]> {
  const rows = await database.query<RuleRow>(sql`
    select distinct on (rule_id) rule_id, rule_version, definition, updated_at, updated_by
    from rules
    where tenant_id = ${tenantId}
    order by rule_id, rule_version desc`);
  return rows.map(toRule);
}

export async function findRule(database: Queryable, tenantId: string, ruleId: string): Promise<Rule | undefined> {
  const [newest] = await listRuleVersions(database, tenantId, { rule_id: ruleId, limit: 1 });
  return newest;
}

// Newest first.
export async function listRuleVersions(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; limit: number },
): Promise<RuleVersion[]> {
  const rows = await database.query<RuleRow>(sql`
    select rule_id, rule_version, definition, updated_at, updated_by
    from rules
    where tenant_id = ${tenantId} and rule_id = ${wanted.rule_id}
    order by rule_version desc
    limit ${wanted.limit}`);
  return rows.map(toRule);
}

// Exactly these versions, however old, because a decision names the versions that it was made by.
export async function findRuleVersions(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; rule_version: number }[],
): Promise<RuleVersion[]> {
  if (wanted.length === 0) return [];
  const rows = await database.query<RuleRow>(sql`
    select r.rule_id, r.rule_version, r.definition, r.updated_at, r.updated_by
    from unnest(
      ${wanted.map((each) => each.rule_id)}::text[],
      ${wanted.map((each) => each.rule_version)}::int[]
    ) as w (rule_id, rule_version)
    join rules as r on r.tenant_id = ${tenantId} and r.rule_id = w.rule_id and r.rule_version = w.rule_version`);
  return rows.map(toRule);
}

export async function countRules(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from rules
    where tenant_id = ${tenantId} and rule_version = 1`);
  return row?.count ?? 0;
}

export async function insertRuleVersion(tx: Queryable, tenantId: string, rule: RuleVersion): Promise<void> {
  const { rule_id, rule_version, updated_at, updated_by, ...definition } = rule;
  await tx.query(sql`
    insert into rules (tenant_id, rule_id, rule_version, definition, updated_at, updated_by)
    values (${tenantId}, ${rule_id}, ${rule_version}, ${JSON.stringify(definition)}, ${updated_at}, ${updated_by})`);
}

export type Detection = {
  revision: number;
  thresholds: Thresholds;
  models_revision: number;
  lists_revision: number;
  policy_version: number;
  // Null if the tenant has none.
  due_times: Omit<DueTimes, "due_times_version"> | null;
  due_times_version: number;
  // No snooze is active after this time.
  snoozed_until: string | null;
};
export type Settings = Pick<Detection, "revision" | "thresholds"> & {
  thresholds_version: number;
  updated_at: string;
  updated_by: string;
};

type SettingsRow = Row & Settings;

// One lookup by key, because an engine checks before each batch whether its compiled rules, models, lists and policy are still
// current.
export async function findDetection(database: Queryable, tenantId: string): Promise<Detection> {
  const [row] = await database.query<Row & Detection>(sql`
    select revision, thresholds, models_revision, lists_revision, policy_version, due_times, due_times_version, snoozed_until
    from detection_settings
    where tenant_id = ${tenantId}`);
  const none = {
    revision: 0,
    thresholds: defaultThresholds,
    models_revision: 0,
    lists_revision: 0,
    policy_version: 1,
    due_times: null,
    due_times_version: 1,
    snoozed_until: null,
  };
  return row ?? none;
}

export async function findSettings(database: Queryable, tenantId: string): Promise<Settings | undefined> {
  const [row] = await database.query<SettingsRow>(sql`
    select revision, thresholds, thresholds_version, updated_at, updated_by
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row;
}

// The lock is held until the transaction ends, so changes to a tenant's rules and thresholds happen one after the other.
export async function lockSettings(tx: Queryable, tenantId: string, now: string): Promise<Settings> {
  await insertSettings(tx, tenantId, now);
  const [row] = await tx.query<SettingsRow>(sql`
    select revision, thresholds, thresholds_version, updated_at, updated_by
    from detection_settings
    where tenant_id = ${tenantId}
    for update`);
  if (!row) throw new Error("the settings were inserted but cannot be found");
  return row;
}

export async function raiseRevision(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set revision = revision + 1
    where tenant_id = ${tenantId}`);
}

export async function saveThresholds(tx: Queryable, tenantId: string, saved: Omit<Settings, "revision">): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set revision = revision + 1,
      thresholds = ${JSON.stringify(saved.thresholds)},
      thresholds_version = ${saved.thresholds_version},
      updated_at = ${saved.updated_at},
      updated_by = ${saved.updated_by}
    where tenant_id = ${tenantId}`);
}

async function insertSettings(tx: Queryable, tenantId: string, now: string): Promise<void> {
  await tx.query(sql`
    insert into detection_settings (tenant_id, revision, thresholds, thresholds_version, updated_at, updated_by)
    values (${tenantId}, 1, ${JSON.stringify(defaultThresholds)}, 1, ${now}, 'system')
    on conflict (tenant_id) do nothing`);
}

// Inserts the rules and settings that a tenant starts with. Existing ones are left unchanged, so it can run at every start.
export async function insertDefaults(
  tx: Queryable,
  tenantId: string,
  rules: readonly (RuleDefinition & { rule_id: string })[],
  now: string,
): Promise<void> {
  await insertSettings(tx, tenantId, now);
  await tx.query(sql`
    insert into engine_turns (tenant_id)
    values (${tenantId})
    on conflict (tenant_id) do nothing`);
  const added = await tx.query(sql`
    insert into rules (tenant_id, rule_id, rule_version, definition, updated_at, updated_by)
    select ${tenantId}::uuid, r.rule_id, 1, r.definition, ${now}::timestamptz, 'system'
    from unnest(
      ${rules.map((each) => each.rule_id)}::text[],
      ${rules.map(({ rule_id: _id, ...definition }) => JSON.stringify(definition))}::jsonb[]
    ) as r (rule_id, definition)
    order by r.rule_id
    on conflict (tenant_id, rule_id, rule_version) do nothing
    returning 1 as added`);
  if (added.length > 0) await raiseRevision(tx, tenantId);
}

// Tenants created before rules existed.
export async function listTenantsWithoutRules(database: Queryable): Promise<string[]> {
  return askTenantIds(
    database,
    sql`
    select tenant_id
    from event_counters as c
    where not exists (select 1 from detection_settings as d where d.tenant_id = c.tenant_id)`,
  );
}

// Tenants whose default rules come from an earlier release.
export async function listTenantsBefore(database: Queryable, defaultsVersion: number): Promise<string[]> {
  return askTenantIds(database, sql`select tenant_id from detection_settings where defaults_version < ${defaultsVersion}`);
}

export async function findDefaultsVersion(tx: Queryable, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ defaults_version: number }>(sql`
    select defaults_version
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row?.defaults_version ?? 0;
}

export async function saveDefaultsVersion(tx: Queryable, tenantId: string, defaultsVersion: number): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set defaults_version = ${defaultsVersion}
    where tenant_id = ${tenantId}`);
}

export type RuleHits = { rule_id: string; is_shadow: boolean; day: string; hits: number };

// Rows are sorted by key, so that two writers lock them in the same order.
export async function addRuleHits(tx: Queryable, tenantId: string, hits: RuleHits[]): Promise<void> {
  const sorted = merge(
    hits,
    (each) => `${each.rule_id} ${each.is_shadow} ${each.day}`,
    (a, b) => ({ ...a, hits: a.hits + b.hits }),
  );
  if (sorted.length === 0) return;
  await tx.query(sql`
    insert into rule_hits (tenant_id, rule_id, is_shadow, day, hits)
    select ${tenantId}::uuid, h.*
    from unnest(
      ${sorted.map((each) => each.rule_id)}::text[],
      ${sorted.map((each) => each.is_shadow)}::boolean[],
      ${sorted.map((each) => each.day)}::date[],
      ${sorted.map((each) => each.hits)}::bigint[]
    ) as h
    on conflict (tenant_id, rule_id, is_shadow, day) do update
    set hits = rule_hits.hits + excluded.hits`);
}

// What a report shows of the latest activity of a subject that a rule hit.
export type HitActivity = { activity_id: string; website_account_id?: string; occurred_at: string; sentence: string };

export type RuleSubject = {
  rule_id: string;
  is_shadow: boolean;
  subject: string;
  hits: number;
  at: string;
  last_activity: HitActivity;
};

// First and last follow the hits' own times, in whatever order they arrive.
export async function addRuleSubjects(tx: Queryable, tenantId: string, hits: RuleSubject[]): Promise<void> {
  const first = new Map<string, string>();
  const keyOf = (each: RuleSubject) => `${each.rule_id} ${each.is_shadow} ${each.subject}`;
  for (const each of hits) {
    const known = first.get(keyOf(each));
    if (known === undefined || each.at < known) first.set(keyOf(each), each.at);
  }
  const sorted = merge(hits, keyOf, (a, b) => ({ ...(b.at >= a.at ? b : a), hits: a.hits + b.hits }));
  if (sorted.length === 0) return;
  await tx.query(sql`
    insert into rule_subjects (tenant_id, rule_id, is_shadow, subject, hits, first_at, last_at, last_activity)
    select ${tenantId}::uuid, h.*
    from unnest(
      ${sorted.map((each) => each.rule_id)}::text[],
      ${sorted.map((each) => each.is_shadow)}::boolean[],
      ${sorted.map((each) => each.subject)}::text[],
      ${sorted.map((each) => each.hits)}::bigint[],
      ${sorted.map((each) => first.get(keyOf(each)))}::timestamptz[],
      ${sorted.map((each) => each.at)}::timestamptz[],
      ${sorted.map((each) => JSON.stringify(each.last_activity))}::jsonb[]
    ) as h
    on conflict (tenant_id, rule_id, is_shadow, subject) do update
    set hits = rule_subjects.hits + excluded.hits,
      first_at = least(rule_subjects.first_at, excluded.first_at),
      last_at = greatest(rule_subjects.last_at, excluded.last_at),
      last_activity = case
        when excluded.last_at >= rule_subjects.last_at then excluded.last_activity
        else rule_subjects.last_activity
      end`);
}

// One entry per key, because a statement may update a row only once; sorted by key.
function merge<T>(given: T[], keyOf: (each: T) => string, add: (a: T, b: T) => T): T[] {
  const byKey = new Map<string, T>();
  for (const each of given) {
    const known = byKey.get(keyOf(each));
    byKey.set(keyOf(each), known ? add(known, each) : each);
  }
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
