-- Cases about an attack that were closed together with the cases that the attack opened. An engine closes those in batches, in
-- order of their ids, and deletes the row when it has closed the last one. closed_to: the last id that it has closed.
create table member_closes (
  tenant_id uuid not null,
  case_id uuid not null,
  closed_to uuid not null default '00000000-0000-0000-0000-000000000000',
  primary key (tenant_id, case_id)
);

alter table member_closes enable row level security;
create policy tenant_lock on member_closes using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
