-- The tenant's own disposition of a closed case, which says more than the three that everybody has. Null for all cases so far.
alter table cases add column own_disposition text collate "C";
create index cases_own_disposition on cases (tenant_id, own_disposition, touched_at, sorted_id) where own_disposition is not null;
