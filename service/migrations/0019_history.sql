-- Activity from before the tenant used Casehound. It waits here until its import is started, and is then scored in order of time.
-- received_at: the time at which the activity happened, so that history has its place in the log of that day.
-- known_at: when it became known that the activity was a fraud; null if it is not known as one. actor: who imported it.
create table history (
  tenant_id uuid not null references tenants,
  received_at timestamptz(3) not null,
  id_key uuid not null,
  website_account_id text collate "C",
  activity text not null,
  known_at timestamptz(3),
  actor text collate "C" not null,
  primary key (tenant_id, received_at, id_key)
);
create index history_account on history (tenant_id, website_account_id) where website_account_id is not null;

-- The tenants whose history is being scored.
create table imports (
  tenant_id uuid primary key references tenants,
  started_at timestamptz(3) not null,
  started_by text collate "C" not null
);

do $$
declare
  locked text;
begin
  foreach locked in array array['history', 'imports'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
