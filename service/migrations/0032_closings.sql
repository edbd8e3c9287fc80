-- Who closed a case, and with which outcome. Both are null while it is open. A list by one of them is in the order of changes, so
-- the latest closes come first.
alter table cases
  add column closer text collate "C",
  add column disposition text collate "C";
update cases
set closer = document::jsonb #>> '{current_state,changed_by}',
  disposition = document::jsonb #>> '{current_state,disposition}'
where status = 'CLOSED';
create index cases_closer on cases (tenant_id, closer, touched_at, sorted_id) where closer is not null;
create index cases_disposition on cases (tenant_id, disposition, touched_at, sorted_id) where disposition is not null;
