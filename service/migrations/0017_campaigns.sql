-- The accounts that a case about a source or a campaign lists. own_case_id: the account's own case that the attack opened.
create table case_members (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  website_account_id text collate "C" not null,
  state text collate "C" not null check (state in ('attacked', 'created', 'entered')),
  seen_at timestamptz(3) not null,
  own_case_id uuid,
  primary key (tenant_id, case_id, website_account_id)
);
create index case_members_account on case_members (tenant_id, website_account_id);
create index case_members_state on case_members (tenant_id, case_id, state desc, website_account_id);
create index case_members_own on case_members (tenant_id, case_id, own_case_id) where own_case_id is not null;

-- What the evidence of a case looked like: which rules fired, and hashes of the source by which a look-alike is found again.
create table case_traits (
  tenant_id uuid not null references tenants,
  trait uuid not null,
  rule_id text collate "C" not null,
  case_id uuid not null,
  size integer not null,
  seen_at timestamptz(3) not null,
  primary key (tenant_id, trait, case_id, rule_id)
);
create index case_traits_case on case_traits (tenant_id, case_id);

-- The campaigns that are under way, by rule: start, latest event and number of findings.
alter table engine_turns add column campaigns jsonb not null default '{}';

do $$
declare
  locked text;
begin
  foreach locked in array array['case_members', 'case_traits'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
