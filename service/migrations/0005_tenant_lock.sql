-- A second lock: under the role that requests of tenants work under, a row is there only for the tenant that was named. Named
-- none, no row is. The owner, as whom the service migrates, scores and keeps house, is not bound by it.
-- Every table with a tenant_id has to have this policy; partitions of activities have that of their parent.
do $$
declare
  locked text;
begin
  foreach locked in array array[
    'tenants', 'clients', 'accounts', 'cases', 'idempotency_keys', 'event_counters', 'events', 'activity_ids', 'inbox',
    'unscorable', 'activities', 'user_agents', 'engine_turns', 'entity_states', 'sessions', 'links', 'rules',
    'detection_settings', 'rule_hits', 'rule_subjects', 'outcomes', 'backtests', 'quarantine', 'quarantine_counts',
    'metric_buckets', 'users', 'user_links', 'web_sessions', 'case_tallies'
  ] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;

-- Before a policy was asked no function may see a row, but for the few that are known to keep what they see to themselves. The
-- hash of a CRM id is none of them, so the index has to have it as a column.
alter table accounts
  add column crm_key bigint generated always as (hashtextextended(crm_account_id, 0)) stored;
drop index accounts_crm;
create index accounts_crm on accounts (tenant_id, crm_key, website_account_id) where crm_account_id is not null;
