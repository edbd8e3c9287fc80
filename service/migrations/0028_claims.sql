-- Who works on a case, until when. A claim is kept outside the case, so that claiming never waits for a change to the case and
-- never delays one. (case_claims is something else: accounts that the pages of a source named.)
create table case_leases (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  claimed_by text collate "C" not null,
  claimed_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, case_id)
);
create index case_leases_holder on case_leases (tenant_id, claimed_by);

alter table case_leases enable row level security;
create policy tenant_lock on case_leases using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
