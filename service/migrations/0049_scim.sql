-- Provisioning of people by a directory over SCIM 2.0.

-- Whether a directory manages the person.
alter table users add column is_provisioned boolean not null default false;

-- Which role the members of a group get. Without a row, nothing was set.
create table scim_settings (
  tenant_id uuid not null primary key references tenants,
  -- [{group, role}], the first match decides.
  role_groups jsonb not null,
  default_role text collate "C" not null,
  updated_at timestamptz(3) not null
);

-- Bearer tokens of directories. Only hashes are stored.
create table scim_tokens (
  tenant_id uuid not null references tenants,
  scim_token_id uuid not null,
  name text collate "C" not null,
  token_hash bytea not null,
  -- The scopes of whoever created it: it grants no role that has others. Null if those were all scopes.
  reach text[],
  adopts_people boolean not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  primary key (tenant_id, scim_token_id),
  unique (tenant_id, name),
  unique (tenant_id, token_hash)
);

-- What a directory says about a person.
create table scim_people (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  user_name text not null,
  -- The user name in lower case.
  user_name_key text collate "C" not null,
  external_id text,
  given_name text,
  family_name text,
  formatted_name text,
  display_name text,
  -- A directory may activate only people whom a directory has deactivated.
  is_deactivated boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- When the directory deleted the person. The account stays, disabled, because the audit trail names it.
  deleted_at timestamptz(3),
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users
);
create unique index scim_people_user_name on scim_people (tenant_id, user_name_key) where deleted_at is null;

create table scim_groups (
  tenant_id uuid not null references tenants,
  scim_group_id uuid not null,
  display_name text not null,
  -- The name in lower case.
  display_name_key text collate "C" not null,
  external_id text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, scim_group_id),
  unique (tenant_id, display_name_key)
);

create table scim_group_members (
  tenant_id uuid not null references tenants,
  scim_group_id uuid not null,
  user_id uuid not null,
  primary key (tenant_id, scim_group_id, user_id),
  foreign key (tenant_id, scim_group_id) references scim_groups,
  foreign key (tenant_id, user_id) references users
);
create index scim_group_members_user on scim_group_members (tenant_id, user_id);

do $$
declare
  named text;
begin
  foreach named in array array['scim_settings', 'scim_tokens', 'scim_people', 'scim_groups', 'scim_group_members'] loop
    execute format('alter table %I enable row level security', named);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)', named
    );
  end loop;
end
$$;
