-- Rules that are quiet about a subject until a date, because its case was a false positive. value: the device, address or payee that
-- the activity must name too; null if any. rules: ids of rules, `login.ratio` or `model.<moment>`. score and size: the strongest
-- evidence that was judged. hits: how often the rules matched meanwhile. kept: how many findings did not reach a case.
create table snoozes (
  tenant_id uuid not null references tenants,
  snooze_id uuid not null,
  case_id uuid not null,
  subject text collate "C" not null,
  scope text collate "C" not null check (scope in ('account', 'device', 'address', 'payee')),
  value text collate "C",
  rules text[] not null,
  score smallint not null,
  size integer not null,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  until timestamptz(3) not null,
  hits bigint not null default 0,
  kept bigint not null default 0,
  last_kept_at timestamptz(3),
  ended_at timestamptz(3),
  ended_by text collate "C",
  ended_because text collate "C",
  primary key (tenant_id, snooze_id)
);
create index snoozes_subject on snoozes (tenant_id, subject) where ended_at is null;
create index snoozes_case on snoozes (tenant_id, case_id);

alter table snoozes enable row level security;
create policy tenant_lock on snoozes using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- When the last snooze ends, at the latest. Engines read it before each batch, so that tenants without a snooze pay nothing.
alter table detection_settings add column snoozed_until timestamptz(3);
