-- Filters and sorts of the queue that people saved under a name. owner: `user:` and a person's id, or `client:` and a client's name.
-- key: the digit that opens the view in the console. position: its place among the owner's views.
create table saved_views (
  tenant_id uuid not null references tenants,
  view_id uuid not null,
  owner text collate "C" not null,
  name text collate "C" not null,
  filter jsonb not null,
  sort text not null,
  is_shared boolean not null,
  key smallint,
  position integer not null,
  view_version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, view_id),
  unique (tenant_id, owner, name)
);
create index saved_views_shared on saved_views (tenant_id) where is_shared;

alter table saved_views enable row level security;
create policy tenant_lock on saved_views using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
