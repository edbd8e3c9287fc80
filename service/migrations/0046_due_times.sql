-- By when cases should be decided. Null: the tenant has no due times. Engines read it before each batch, with the other settings.
alter table detection_settings add column due_times json;
alter table detection_settings add column due_times_version integer not null default 1;

-- overdue_for: the due time that the event case.overdue was about. So each due time has one event.
alter table cases add column due_at timestamptz(3);
alter table cases add column overdue_for timestamptz(3);
create index cases_due on cases (tenant_id, due_at, sorted_id) where status = 'OPEN' and due_at is not null;
create index cases_due_facets on cases (tenant_id, facet, due_at, sorted_id) where status = 'OPEN' and due_at is not null;
create index cases_overdue on cases (due_at, tenant_id)
  where status = 'OPEN' and due_at is not null and overdue_for is distinct from due_at;
