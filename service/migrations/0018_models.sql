-- Models that were trained on the labels of a tenant. A model's text holds thresholds and weights, and no ids, so an erasure has
-- nothing to remove from it. Its id is the SHA-256 of the text.
create table models (
  tenant_id uuid not null references tenants,
  model_id text collate "C" not null,
  moment text collate "C" not null check (moment in ('entry', 'signup', 'value')),
  state text collate "C" not null check (state in ('CHALLENGER', 'CHAMPION', 'RETIRED')),
  text text not null,
  figures jsonb not null,
  trained_from timestamptz(3) not null,
  trained_until timestamptz(3) not null,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  promoted_at timestamptz(3),
  promoted_by text collate "C",
  retired_at timestamptz(3),
  retired_by text collate "C",
  primary key (tenant_id, model_id)
);
create index models_newest on models (tenant_id, moment, created_at);
create unique index models_champion on models (tenant_id, moment) where state = 'CHAMPION';
create unique index models_challenger on models (tenant_id, moment) where state = 'CHALLENGER';

-- At most one run per moment waits or works. The lease is like that of a backtest.
create table model_runs (
  tenant_id uuid not null references tenants,
  run_id uuid not null,
  moment text collate "C" not null check (moment in ('entry', 'signup', 'value')),
  status text collate "C" not null check (status in ('QUEUED', 'RUNNING', 'DONE', 'FAILED')),
  progress jsonb not null,
  model_id text collate "C",
  reason text,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  finished_at timestamptz(3),
  lease_until timestamptz(3),
  primary key (tenant_id, run_id)
);
create unique index model_runs_waiting on model_runs (tenant_id, moment) where status in ('QUEUED', 'RUNNING');

-- models_revision: raised with every change to the models that serve and to released_rules, so that an engine knows that its models
-- are current. released_rules: the rules whose findings a model may lower.
alter table detection_settings
  add column models_revision integer not null default 0,
  add column released_rules text[] not null default '{}',
  add column cases_per_day real;

alter table models enable row level security;
create policy tenant_lock on models using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
alter table model_runs enable row level security;
create policy tenant_lock on model_runs using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
