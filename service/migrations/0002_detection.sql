-- Activity on its way: accepted into the inbox, scored by the engine, kept in daily partitions with what was decided.
-- The hot tables have no foreign key to tenants: the check costs a look-up and a row lock for every row that is written.

alter table tenants
  add column ip_policy text collate "C" not null default 'full' check (ip_policy in ('full', 'truncate', 'hash')),
  add column url_parameters text[] not null default '{}';

alter table activities rename to activities_before;
alter table activities_before rename constraint activities_pkey to activities_before_pkey;
drop index activities_unscored;
drop index activities_account;

-- What was seen, as the first 16 bytes of the SHA-256 of origin and id, so that a resend is known for as long as raw
-- activity is kept. content tells a resend from an id that was used again for something else.
create table activity_ids (
  tenant_id uuid not null,
  id_key uuid not null,
  received_on date not null,
  content integer not null,
  primary key (tenant_id, id_key)
) with (autovacuum_vacuum_insert_threshold = -1);

-- What came together is one row: a JSON array of activities, packed by zstd where that pays, and as it is where it begins with a
-- bracket.
create table inbox (
  tenant_id uuid not null,
  received_at timestamptz(3) not null,
  parcel_id uuid not null,
  events integer not null,
  parcel bytea not null,
  primary key (tenant_id, received_at, parcel_id)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000, toast.autovacuum_vacuum_cost_delay = 0
);
alter table inbox alter column parcel set storage external;

-- What could not be scored, as it lay in the inbox, so that it can be put back once it is known why.
create table unscorable (
  tenant_id uuid not null,
  received_at timestamptz(3) not null,
  id_key uuid not null,
  website_account_id text collate "C",
  activity text not null,
  fault text not null,
  failed_at timestamptz(3) not null,
  primary key (tenant_id, id_key)
);

-- document: what of the activity has no column. decision: score, hits, rule versions and feature vector, so that it can be
-- explained and replayed.
create table activities (
  tenant_id uuid not null,
  received_at timestamptz(3) not null,
  id_key uuid not null,
  occurred_at timestamptz(3) not null,
  score smallint not null,
  origin text collate "C" not null,
  type text collate "C" not null,
  activity_id text collate "C" not null,
  website_account_id text collate "C",
  session_id text collate "C",
  device_id text collate "C",
  ip text collate "C",
  agent_key bigint,
  prediction_id uuid,
  case_id uuid,
  document text not null,
  decision text not null,
  primary key (tenant_id, received_at, id_key)
) partition by range (received_at);
create index activities_account on activities (tenant_id, website_account_id, received_at) where website_account_id is not null;
create index activities_session on activities (tenant_id, session_id) where session_id is not null;
create index activities_prediction on activities (tenant_id, prediction_id) where prediction_id is not null;

-- Each user agent once: it is the longest part of an activity, and nearly always one that was seen before.
create table user_agents (
  tenant_id uuid not null,
  agent_key bigint not null,
  user_agent text not null,
  primary key (tenant_id, agent_key)
);

do $$
declare
  day date;
begin
  for day in select distinct (received_at at time zone 'UTC')::date from activities_before where scored_at is not null loop
    execute format(
      'create table %I partition of activities for values from (%L) to (%L)',
      'activities_' || to_char(day, 'YYYYMMDD'), day::text || ' 00:00+00', (day + 1)::text || ' 00:00+00'
    );
  end loop;
end
$$;

create function pg_temp.id_key(activity_id text) returns uuid language sql as
  $$ select encode(substr(sha256(convert_to('server:' || activity_id, 'UTF8')), 1, 16), 'hex')::uuid $$;

insert into activity_ids (tenant_id, id_key, received_on, content)
select tenant_id, pg_temp.id_key(activity_id), (received_at at time zone 'UTC')::date, 0
from activities_before;

insert into inbox (tenant_id, received_at, parcel_id, events, parcel)
select tenant_id, received_at, pg_temp.id_key(activity_id), 1,
  convert_to(jsonb_build_array(activity || jsonb_build_object('origin', 'server', 'received_at', to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text, 'UTF8')
from activities_before
where scored_at is null;

insert into activities (
  tenant_id, received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id, session_id, device_id, ip,
  document, decision
)
select tenant_id, received_at, pg_temp.id_key(activity_id), (activity ->> 'occurred_at')::timestamptz,
  case when activity ->> 'type' = 'fraud_report' then 5 else 1 end, 'server', activity ->> 'type', activity_id,
  website_account_id, activity ->> 'session_id', activity ->> 'device_id', activity ->> 'ip',
  (activity - '{activity_id,type,occurred_at,website_account_id,session_id,device_id,ip}'::text[])::text, '{}'
from activities_before
where scored_at is not null;

drop table activities_before;

-- One engine at a time works on a tenant: it holds this row. So several engines give what one would.
create table engine_turns (
  tenant_id uuid primary key references tenants,
  browser_at timestamptz(3)
);
insert into engine_turns (tenant_id) select tenant_id from tenants;

-- An account, a device, an address, a network, or a value whose share among all log-ins is known. Rows stay under 1 kB and are
-- updated in place.
create table entity_states (
  tenant_id uuid not null,
  kind text collate "C" not null,
  key uuid not null,
  touched_on date not null,
  ring bytea not null,
  facts text not null,
  primary key (tenant_id, kind, key)
) with (fillfactor = 60);

create table sessions (
  tenant_id uuid not null,
  session_id text collate "C" not null,
  website_account_id text collate "C",
  device_id text collate "C",
  started_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  facts text not null,
  primary key (tenant_id, session_id)
) with (fillfactor = 70);
create index sessions_account on sessions (tenant_id, website_account_id, started_at) where website_account_id is not null;

-- kind: account-device, account-ip. a is the account.
create table links (
  tenant_id uuid not null,
  kind text collate "C" not null,
  a text collate "C" not null,
  b text collate "C" not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  primary key (tenant_id, kind, a, b)
);
create index links_reverse on links (tenant_id, kind, b, a);

-- Every version of every rule; the highest is the one that counts.
create table rules (
  tenant_id uuid not null references tenants,
  rule_id text collate "C" not null,
  rule_version integer not null check (rule_version >= 1),
  definition jsonb not null,
  updated_at timestamptz(3) not null,
  updated_by text collate "C" not null,
  primary key (tenant_id, rule_id, rule_version)
);

-- revision: raised by every change of rules or thresholds, so that an engine knows when to compile anew.
create table detection_settings (
  tenant_id uuid primary key references tenants,
  revision integer not null,
  thresholds jsonb not null,
  thresholds_version integer not null,
  updated_at timestamptz(3) not null,
  updated_by text collate "C" not null
);

create table rule_hits (
  tenant_id uuid not null references tenants,
  rule_id text collate "C" not null,
  is_shadow boolean not null,
  day date not null,
  hits bigint not null,
  primary key (tenant_id, rule_id, is_shadow, day)
);

-- Whom a rule hit: what precision is measured against, once cases of that subject are closed.
create table rule_subjects (
  tenant_id uuid not null references tenants,
  rule_id text collate "C" not null,
  is_shadow boolean not null,
  subject text collate "C" not null,
  hits bigint not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  last_activity jsonb not null,
  primary key (tenant_id, rule_id, is_shadow, subject)
);
create index rule_subjects_latest on rule_subjects (tenant_id, rule_id, is_shadow, last_at);
create index rule_subjects_subject on rule_subjects (tenant_id, subject);

-- What investigators said, with its time: the labels that detection is measured by.
create table outcomes (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  case_version integer not null,
  subject text collate "C" not null,
  website_account_id text collate "C" not null,
  disposition text collate "C" not null,
  decided_at timestamptz(3) not null,
  decided_by text collate "C" not null,
  primary key (tenant_id, case_id, case_version)
);
create index outcomes_subject on outcomes (tenant_id, subject);
create index outcomes_account on outcomes (tenant_id, website_account_id) where disposition = 'CONFIRMED_FRAUD';

create table backtests (
  tenant_id uuid not null references tenants,
  backtest_id uuid not null,
  status text collate "C" not null check (status in ('QUEUED', 'RUNNING', 'DONE', 'CANCELLED', 'FAILED')),
  request jsonb not null,
  progress jsonb not null,
  result jsonb,
  fault text,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  finished_at timestamptz(3),
  lease_until timestamptz(3),
  primary key (tenant_id, backtest_id)
);
create index backtests_waiting on backtests (tenant_id, backtest_id) where status in ('QUEUED', 'RUNNING');

create table quarantine (
  tenant_id uuid not null references tenants,
  quarantine_id uuid not null,
  received_at timestamptz(3) not null,
  reason text collate "C" not null,
  detail text not null,
  excerpt text not null,
  primary key (tenant_id, quarantine_id)
);

create table quarantine_counts (
  tenant_id uuid not null references tenants,
  day date not null,
  reason text collate "C" not null,
  count bigint not null,
  primary key (tenant_id, day, reason)
);

-- Counts by event time, kept by minute, hour and day. The sketches are exact while they are small, and can be united.
create table metric_buckets (
  tenant_id uuid not null,
  level text collate "C" not null check (level in ('minute', 'hour', 'day')),
  bucket timestamptz(3) not null,
  total_events bigint not null,
  session_starts bigint not null,
  sessions bytea not null,
  identified bytea not null,
  ids bytea not null,
  primary key (tenant_id, level, bucket)
) with (fillfactor = 70);
