-- What to do by moment, score, label and list. Every change is a new version. Version 1 is the default policy, which is not stored.
create table policies (
  tenant_id uuid not null references tenants,
  policy_version integer not null,
  definition jsonb not null,
  updated_at timestamptz(3) not null,
  updated_by text collate "C" not null,
  primary key (tenant_id, policy_version)
);

alter table policies enable row level security;
create policy tenant_lock on policies using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- Engines read it before each batch, together with the revision of the rules.
alter table detection_settings add column policy_version integer not null default 1;
