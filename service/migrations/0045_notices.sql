-- What a person should know: somebody mentioned them in a note, or handed a case over to them or to their role. The id is the
-- note's. The text is in case_notes alone. (The table inbox is something else: activity that waits for the engine.)
create table notices (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  notice_id uuid not null,
  kind text collate "C" not null check (kind in ('mention', 'handover')),
  case_id uuid not null,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  read_at timestamptz(3),
  primary key (tenant_id, user_id, notice_id)
);
create index notices_unread on notices (tenant_id, user_id, notice_id) where read_at is null;
create index notices_case on notices (tenant_id, case_id);

alter table notices enable row level security;
create policy tenant_lock on notices using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
