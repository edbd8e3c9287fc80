-- Figures about the work on cases. closed_at: null while the case is open. judged: the ids of the rules and models behind a closed
-- case, separated by spaces. Cases that were closed earlier than the longest period of the figures stay without them.
alter table cases
  add column closed_at timestamptz(3),
  add column judged text collate "C";
update cases
set closed_at = (document::jsonb #>> '{current_state,changed_at}')::timestamptz,
  judged = (
    select string_agg(distinct
      case b.found ->> 'type'
        when 'rule' then b.found ->> 'model_name'
        when 'likelihood_ratio' then 'login.ratio'
        else 'model.' || regexp_replace(b.found ->> 'model_name', '_[^_]*$', '')
      end, ' ')
    from jsonb_each(document::jsonb -> 'fraud_occurrences') as o
    cross join lateral jsonb_array_elements(
      case jsonb_typeof(o.value #> '{explanation,model_behaviour}')
        when 'array' then o.value #> '{explanation,model_behaviour}'
        else '[]'::jsonb
      end
    ) as b (found)
  )
where closer is not null and touched_at > now() - interval '92 days';
create index cases_closed on cases (tenant_id, closed_at) include (closer, disposition, created_at, judged)
  where closed_at is not null;

-- Closes that somebody took back by reopening the case.
create table overturned_closes (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  closed_at timestamptz(3) not null,
  closed_by text collate "C" not null,
  disposition text collate "C",
  reopened_at timestamptz(3) not null,
  primary key (tenant_id, closed_at, case_id)
);

-- The payments and transfers behind a confirmed fraud.
create table case_money (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  currency text collate "C" not null,
  payments integer not null,
  amount numeric not null,
  primary key (tenant_id, case_id, currency)
);

do $$
declare
  locked text;
begin
  foreach locked in array array['overturned_closes', 'case_money'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
