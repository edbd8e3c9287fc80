-- What batches with assessments add to the buckets of metrics. A bucket has large sketches, and somebody waits for such a batch, so
-- the additions are kept apart and merged into their buckets later.
create table metric_additions (
  tenant_id uuid not null references tenants,
  addition_id bigint generated always as identity,
  level text collate "C" not null,
  bucket timestamptz(3) not null,
  total_events bigint not null,
  session_starts bigint not null,
  sessions bytea not null,
  identified bytea not null,
  ids bytea not null,
  primary key (tenant_id, addition_id)
);

alter table metric_additions enable row level security;
create policy tenant_lock on metric_additions using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
