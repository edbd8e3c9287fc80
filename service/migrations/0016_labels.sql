-- Whether an activity was a fraud, by everybody who said so. The activity is named by its key in `activities`.
-- y: 1 for a fraud, 0 for none, null if the label was taken back. applied_y: the y that the counts of known frauds of the
-- activity's account, device, payee and instrument contain; null if they contain none. An engine compares the two.
-- case_id: the case that the label comes from, or a UUID of zeros. One activity may be evidence in several cases.
create table labels (
  tenant_id uuid not null,
  id_key uuid not null,
  source text collate "C" not null check (source in ('case', 'api', 'report', 'account_report')),
  case_id uuid not null,
  case_version integer,
  received_at timestamptz(3) not null,
  y smallint check (y in (0, 1)),
  applied_y smallint check (applied_y in (0, 1)),
  weight real not null,
  event_at timestamptz(3) not null,
  labelled_at timestamptz(3) not null,
  known_at timestamptz(3) not null,
  actor text collate "C" not null,
  primary key (tenant_id, id_key, source, case_id)
);
create index labels_latest on labels (tenant_id, labelled_at, id_key, source, case_id);
create index labels_case on labels (tenant_id, case_id) where source <> 'api';
create index labels_unapplied on labels (tenant_id, id_key) where y is distinct from applied_y and source <> 'account_report';

alter table labels enable row level security;
create policy tenant_lock on labels using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);

-- Whether the outcome has become labels. Outcomes from before this release become labels too.
alter table outcomes add column is_labelled boolean not null default false;
create index outcomes_unlabelled on outcomes (tenant_id, case_id) where not is_labelled;
