-- Roles that a tenant makes itself, from scopes. The built-in ones are in the code.
create table tenant_roles (
  tenant_id uuid not null references tenants,
  role text collate "C" not null,
  description text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, role)
);
alter table tenant_roles enable row level security;
create policy tenant_lock on tenant_roles using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

alter table users drop constraint users_role_check;
