-- To whom a case was handed over: a person (user_id) or a role. One row for each case, the latest. A close ends it, and reopening
-- the case restores it. The note's text is in case_notes alone.
create table case_handovers (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  handed_to text collate "C" not null,
  handed_by text collate "C" not null,
  handed_at timestamptz(3) not null,
  note_id uuid not null,
  case_version integer not null,
  is_ended boolean not null default false,
  primary key (tenant_id, case_id)
);
create index case_handovers_recipient on case_handovers (tenant_id, handed_to) include (case_id) where not is_ended;

alter table case_handovers enable row level security;
create policy tenant_lock on case_handovers using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- Set if the note came with a handover.
alter table case_notes add column handed_to text collate "C";
