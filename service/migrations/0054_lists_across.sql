-- Lists that are ordered by one time and bounded by the other look into each week of creation for cases within the bound
-- (db/case-weeks.ts). `created_at` is included because PostgreSQL otherwise reads the row for it, and the account for the lists of
-- cases without one.
create index cases_weeks on cases (tenant_id, date_bin('7 days', created_at, '2024-01-01T00:00:00Z'), touched_at, sorted_id)
  include (created_at);
create index cases_week_facets on cases
  (tenant_id, date_bin('7 days', created_at, '2024-01-01T00:00:00Z'), facet, touched_at, sorted_id)
  include (created_at, website_account_id);
