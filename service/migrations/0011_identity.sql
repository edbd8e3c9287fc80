-- Signed identity: a site's server signs which user a page speaks for. The secrets sign, so they are stored as they are. The
-- current one has no expiry; each older one works until its own.
alter table tenants
  add column identity_verification text collate "C" not null default 'off'
    check (identity_verification in ('off', 'observe', 'required'));

create table identity_secrets (
  tenant_id uuid not null references tenants,
  secret_id uuid not null,
  secret text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (tenant_id, secret_id)
);
create unique index identity_secrets_current on identity_secrets (tenant_id) where expires_at is null;

-- Browser events that named an account, by what vouched for them.
create table identity_counts (
  tenant_id uuid not null,
  day date not null,
  source text collate "C" not null check (source in ('signed', 'tied', 'unvouched', 'bad-token')),
  count bigint not null,
  primary key (tenant_id, day, source)
);

do $$
declare
  locked text;
begin
  foreach locked in array array['identity_secrets', 'identity_counts'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
