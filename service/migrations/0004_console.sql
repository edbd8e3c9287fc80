-- What people look at: new evidence, histories, figures by day.

-- Whether an OPEN case got evidence after a person last changed it, or after it was opened where nobody has.
alter table cases add column has_new_evidence boolean not null default false;
update cases
set has_new_evidence = true
where status = 'OPEN'
  and document::jsonb -> 'current_state' ->> 'changed_by' = 'system'
  and jsonb_array_length(document::jsonb -> 'state_history') > 0;
create index cases_new_by_creation on cases
  (tenant_id, end_user_is_blocked, primary_fraud_label, overall_risk_score, sorted_id)
  where has_new_evidence;
create index cases_new_by_change on cases
  (tenant_id, end_user_is_blocked, primary_fraud_label, overall_risk_score, touched_at, sorted_id)
  where has_new_evidence;

-- The history of one resource, a page at a time.
create index events_resource on events (tenant_id, resource_type, resource_id, event_id);
drop index events_account;

-- How many cases were opened, closed and reopened on a day, and closed with what outcome. bucket tells of those that were closed
-- how long they had been open: the eighth of an octave of the seconds plus one. A close that was taken back counts no more. Written with the events, under their counter's lock.
create table case_tallies (
  tenant_id uuid not null references tenants,
  day date not null,
  what text collate "C" not null,
  bucket smallint not null,
  cases bigint not null,
  primary key (tenant_id, day, what, bucket)
) with (fillfactor = 70);

insert into case_tallies (tenant_id, day, what, bucket, cases)
select e.tenant_id, (e.occurred_at at time zone 'UTC')::date, w.what, w.bucket, count(*)
from (
  select *, lead(type) over (partition by tenant_id, resource_id order by event_id) as next_type
  from events
  where resource_type = 'case' and type in ('case.opened', 'case.closed', 'case.reopened')
) as e
join cases as c on c.tenant_id = e.tenant_id and c.case_id::text = e.resource_id
cross join lateral (
  select substr(e.type, 6) as what,
    case
      when e.type = 'case.closed'
        then floor(8 * log(2, 1 + greatest(0, extract(epoch from e.occurred_at - c.created_at))))
      else 0
    end::smallint as bucket
  union all
  select e.data ->> 'disposition', 0
  where e.type = 'case.closed' and e.data ->> 'disposition' is not null
) as w
where e.type <> 'case.closed' or e.next_type is distinct from 'case.reopened'
group by 1, 2, 3, 4;
