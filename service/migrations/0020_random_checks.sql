-- Activities of low scores that were chosen at random, so that a person looks at them. So it is known how many frauds are missed.
-- weight: one divided by the probability of being chosen. case_id: the case that was opened for it.
create table random_checks (
  tenant_id uuid not null,
  case_id uuid not null,
  id_key uuid not null,
  received_at timestamptz(3) not null,
  type text collate "C" not null,
  weight real not null,
  chosen_at timestamptz(3) not null,
  primary key (tenant_id, case_id)
);
create index random_checks_latest on random_checks (tenant_id, received_at);

alter table random_checks enable row level security;
create policy tenant_lock on random_checks using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- random_checked_on: the last day whose activities were chosen from.
alter table detection_settings
  add column random_checks_per_day integer not null default 0,
  add column random_checked_on date;
