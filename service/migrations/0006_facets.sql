-- What cases are filtered by, as one number: status, block flag, label and score, each combination its own. The indexes of lists
-- are a third smaller by it, and a page of millions of cases costs what a page of thousands does: PostgreSQL looks at every entry
-- of an index's page, and finds a number behind texts of any length only by walking over them. db/facets.ts counts the same.
alter table cases
  add column facet smallint not null generated always as (
    (
      case status when 'OPEN' then 0 else 50 end
      + case when end_user_is_blocked then 25 else 0 end
      + 5 * case primary_fraud_label when 'Account Takeover' then 0 when 'Bot' then 1 when 'Synthetic' then 2 when 'Organic' then 3 else 4 end
      + overall_risk_score - 1
    )::smallint
  ) stored;

drop index cases_by_creation, cases_by_change, cases_unknown_by_creation, cases_unknown_by_change, cases_new_by_creation, cases_new_by_change;
create index cases_by_creation on cases (tenant_id, facet, sorted_id);
create index cases_by_change on cases (tenant_id, facet, touched_at, sorted_id);
create index cases_unknown_by_creation on cases (tenant_id, facet, sorted_id) where website_account_id = 'UNKNOWN';
create index cases_unknown_by_change on cases (tenant_id, facet, touched_at, sorted_id) where website_account_id = 'UNKNOWN';
create index cases_new_by_creation on cases (tenant_id, facet, sorted_id) where has_new_evidence;
create index cases_new_by_change on cases (tenant_id, facet, touched_at, sorted_id) where has_new_evidence;
