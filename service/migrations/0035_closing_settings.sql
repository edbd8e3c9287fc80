-- What a tenant offers to people who close cases, by kind, each kind with a version of its own.
create table closing_settings (
  tenant_id uuid not null references tenants,
  kind text collate "C" not null,
  version integer not null,
  definition jsonb not null,
  updated_at timestamptz(3) not null,
  updated_by text collate "C" not null,
  primary key (tenant_id, kind)
);

alter table closing_settings enable row level security;
create policy tenant_lock on closing_settings using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
