-- Changes that wait for a second person, and what became of them. closing: the body of the close, or the flags of an account, without
-- versions. because: why the change needs a second person. A request that is PENDING may have expired, or may be stale: both follow
-- from other columns when it is read.
create table approvals (
  tenant_id uuid not null references tenants,
  approval_id uuid not null,
  status text collate "C" not null check (status in ('PENDING', 'APPROVED', 'REJECTED', 'WITHDRAWN', 'STALE', 'EXPIRED')),
  closing json not null,
  because text[] not null,
  -- How many cases it would close, without members of an attack. 0: it only changes the account's flags.
  cases integer not null,
  -- Only if it changes an account without closing a case.
  website_account_id text collate "C",
  note text not null,
  requested_at timestamptz(3) not null,
  requested_by text collate "C" not null,
  requested_by_id uuid not null,
  expires_at timestamptz(3) not null,
  decided_at timestamptz(3),
  decided_by text collate "C",
  decision_note text not null default '',
  primary key (tenant_id, approval_id)
);
create index approvals_pending on approvals (tenant_id, approval_id) where status = 'PENDING';
create index approvals_account on approvals (tenant_id, website_account_id) where website_account_id is not null;

-- The cases of a request, with the versions that the first person saw.
create table approval_cases (
  tenant_id uuid not null references tenants,
  approval_id uuid not null,
  position integer not null,
  case_id uuid not null,
  case_version integer not null,
  -- As in approvals, so that both expire together.
  expires_at timestamptz(3) not null,
  primary key (tenant_id, approval_id, position)
);
create index approval_cases_case on approval_cases (tenant_id, case_id);

-- Who approved the close of a closed case. Such closes do not count among those that a person made alone.
alter table cases add column approver text collate "C";

-- The answer to a request. The notice's id is then the request's, and the text is in approvals alone. A request about an account
-- without a case has no case.
alter table notices drop constraint notices_kind_check;
alter table notices add constraint notices_kind_check check (kind in ('mention', 'handover', 'approval'));
alter table notices alter column case_id drop not null;

do $$
declare
  locked text;
begin
  foreach locked in array array['approvals', 'approval_cases'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
