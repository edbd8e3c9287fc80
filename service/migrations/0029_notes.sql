-- What people write about a case. mentions: the people whom the text names with @.
create table case_notes (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  note_id uuid not null,
  text text not null,
  mentions uuid[] not null,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  case_version integer not null,
  primary key (tenant_id, case_id, note_id)
);

alter table case_notes enable row level security;
create policy tenant_lock on case_notes using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
