-- The answers to assessments, so that the same activity_id gives the same bytes again. The activity is named by its key in
-- `activities`, and prediction_id is the id of its decision. fingerprint: a hash of the request. reply: null until somebody
-- answered: an engine with the final verdict, or the process that holds the request, at its deadline.
create table assessments (
  tenant_id uuid not null,
  id_key uuid not null,
  received_at timestamptz(3) not null,
  prediction_id uuid not null,
  fingerprint bytea not null,
  reply text,
  primary key (tenant_id, id_key)
) with (fillfactor = 60, autovacuum_vacuum_insert_threshold = -1);

alter table assessments enable row level security;
create policy tenant_lock on assessments using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- Somebody waits for the verdict on these, so they are scored before everything else that the tenant's servers sent.
alter table inbox add column is_urgent boolean not null default false;
create index inbox_urgent on inbox (tenant_id, received_at, parcel_id) where is_urgent;

-- When an engine last scored an assessment of the tenant. For a while after that, every engine uses small batches.
alter table engine_turns add column assessed_at timestamptz(3);
