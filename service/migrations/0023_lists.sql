-- Lists of values, such as the addresses of an office or stolen phones. Names never change, because rules use them.
create table lists (
  tenant_id uuid not null,
  name text collate "C" not null,
  type text collate "C" not null,
  kind text collate "C" not null,
  label text collate "C" not null,
  description text not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  primary key (tenant_id, name)
);

-- key: the value in its only spelling, by which it is found. value: as it was sent. revision: the tenant's lists_revision that
-- wrote the row, so that an engine reads only what has changed.
create table list_entries (
  tenant_id uuid not null,
  list_name text collate "C" not null,
  key text collate "C" not null,
  value text not null,
  expires_at timestamptz(3),
  reason text,
  from_case_id uuid,
  added_at timestamptz(3) not null,
  added_by text not null,
  revision bigint not null,
  primary key (tenant_id, list_name, key)
);
-- Engines read changes in this order. Without the last two columns, each page would sort all entries of a revision.
create index list_entries_changed on list_entries (tenant_id, revision, list_name, key);

-- What was removed, until every engine has seen it. With an empty key, all lists must be read again.
create table list_removals (
  tenant_id uuid not null,
  revision bigint not null,
  list_name text collate "C" not null,
  key text collate "C" not null,
  removed_at timestamptz(3) not null default now(),
  primary key (tenant_id, revision, list_name, key)
);

-- lists_revision: increases with every change to a list or an entry. 0: the tenant never had a list.
alter table detection_settings add column lists_revision bigint not null default 0;

do $$
declare
  locked text;
begin
  foreach locked in array array['lists', 'list_entries', 'list_removals'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
