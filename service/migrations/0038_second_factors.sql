-- Second factors of people. The secret of an authenticator app is needed in clear text to check codes.
create table user_totp (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  -- Null until the first code was right.
  secret bytea,
  confirmed_at timestamptz(3),
  -- The time step of the last accepted code. A code is accepted once.
  last_step bigint not null default 0,
  -- A new secret that the person has not confirmed yet. The previous one works until then.
  pending_secret bytea,
  pending_since timestamptz(3),
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users,
  check ((secret is null) = (confirmed_at is null)),
  check ((pending_secret is null) = (pending_since is null))
);

-- Codes that replace the second factor once each. Only hashes are stored.
create table user_recovery_codes (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  code_hash bytea not null,
  primary key (tenant_id, user_id, code_hash),
  foreign key (tenant_id, user_id) references users
);

do $$
declare
  named text;
begin
  foreach named in array array['user_totp', 'user_recovery_codes'] loop
    execute format('alter table %I enable row level security', named);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)', named
    );
  end loop;
end
$$;

-- Whether the person has any second factor.
alter table users add column has_second_factor boolean not null default false;
-- Whether the session was opened with one. Sessions that exist already were not.
alter table web_sessions add column has_second_factor boolean not null default false;
alter table tenants add column requires_second_factor boolean not null default false;
