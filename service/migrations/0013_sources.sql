-- Whose word an activity is: a server's, a verified session's, or an unverified page's.

-- True while only unverified pages have named the account. Accounts that existed before keep their standing if a server named
-- them, or if somebody made them by the API.
alter table accounts add column is_claimed boolean not null default false;
update accounts as a
set is_claimed = true
where exists (
    select 1
    from events as e
    where e.tenant_id = a.tenant_id
      and e.resource_type = 'end_user_account'
      and e.resource_id = a.website_account_id
      and e.type = 'account.created'
      and e.actor = 'system'
  )
  and not exists (
    select 1
    from activities as v
    where v.tenant_id = a.tenant_id and v.website_account_id = a.website_account_id and v.origin = 'server'
  )
  and not exists (select 1 from outcomes as o where o.tenant_id = a.tenant_id and o.website_account_id = a.website_account_id);

-- The account that a page named without proof. The activity belongs to its source, not to that account.
alter table activities add column claimed_account_id text collate "C";
create index activities_claimed on activities (tenant_id, claimed_account_id) where claimed_account_id is not null;

-- told: the kinds of activity that the tenant's servers report, each with the last day on which they did.
-- tied_sessions, heard_sessions: of the latest sessions that servers told of, how many there were and in how many a browser was heard.
alter table engine_turns
  add column told jsonb not null default '{}',
  add column tied_sessions real not null default 0,
  add column heard_sessions real not null default 0;
update engine_turns as t
set told = (
  select coalesce(jsonb_object_agg(k.kind, k.day), '{}')
  from (
    select kinds.kind, max((a.received_at at time zone 'UTC')::date)::text as day
    from activities as a
    cross join lateral (
      select 'any' as kind
      union all
      select 'login' where a.type = 'login_succeeded' and a.device_id is not null
      union all
      select 'failed' where a.type = 'login_failed'
      union all
      select 'signup' where a.type = 'signup'
      union all
      select 'sensitive' where a.type in ('password_changed', 'email_changed', 'mfa_changed', 'payee_added')
      union all
      select 'value' where a.type in ('payment', 'transfer')
    ) as kinds
    where a.tenant_id = t.tenant_id and a.origin = 'server' and a.website_account_id is not null
    group by kinds.kind
  ) as k
);

-- Which cases about a source list which accounts, so that an erasure finds them.
create table case_claims (
  tenant_id uuid not null references tenants,
  website_account_id text collate "C" not null,
  case_id uuid not null,
  primary key (tenant_id, website_account_id, case_id)
);
alter table case_claims enable row level security;
create policy tenant_lock on case_claims using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
