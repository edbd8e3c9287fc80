-- Ids, keys and names are compared bytewise (collate "C") whatever the database's own collation is.
-- Every key begins with tenant_id, but for the few small tables that a cluster would copy to every node:
-- tenants, clients, signing_keys, issuer_state and service_settings.

create table tenants (
  tenant_id uuid primary key,
  slug text collate "C" not null unique,
  app_key text collate "C" not null unique,
  allowed_origins text[] not null default '{}',
  created_at timestamptz(3) not null
);

create table clients (
  tenant_id uuid not null references tenants,
  client_id text collate "C" not null unique,
  scopes text[] not null,
  is_primary boolean not null,
  secret_hash text not null,
  previous_secret_hash text,
  previous_secret_until timestamptz(3),
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (tenant_id, client_id)
);
create unique index clients_primary on clients (tenant_id) where is_primary;

create table signing_keys (
  kid text collate "C" primary key,
  private_jwk jsonb not null,
  created_at timestamptz(3) not null
);

create table issuer_state (
  model text collate "C" not null,
  id text collate "C" not null,
  payload jsonb not null,
  grant_id text collate "C",
  uid text collate "C",
  user_code text collate "C",
  consumed_at timestamptz(3),
  expires_at timestamptz(3),
  primary key (model, id)
);
create index issuer_state_grant on issuer_state (grant_id) where grant_id is not null;
create index issuer_state_uid on issuer_state (model, uid) where uid is not null;
create index issuer_state_user_code on issuer_state (model, user_code) where user_code is not null;

create table service_settings (
  name text collate "C" primary key,
  value bytea not null
);

create table accounts (
  tenant_id uuid not null references tenants,
  website_account_id text collate "C" not null,
  crm_account_id text collate "C",
  is_blocked boolean not null,
  is_quarantined boolean not null,
  is_fraudulent boolean not null,
  last_session_updated_on timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, website_account_id)
);
create index accounts_flags on accounts (tenant_id, is_blocked, is_quarantined, is_fraudulent, website_account_id);
-- A CRM id may be longer than an index entry can be, so its hash is what is indexed.
create index accounts_crm on accounts (tenant_id, hashtextextended(crm_account_id, 0), website_account_id)
  where crm_account_id is not null;

-- The case id is a UUID version 7 made from created_at: to order or to bound by one is to do it by the other.
-- sorted_id is the same id for the indexes of filtered lists. The primary key cannot serve it, so that PostgreSQL never
-- walks the whole tenant in order, hoping for matches, where a slice of an index holds just them.
-- document is the case as it is answered, less end_user_is_blocked, which follows the account.
create table cases (
  tenant_id uuid not null references tenants,
  case_id uuid not null,
  sorted_id uuid not null generated always as (case_id) stored,
  subject text collate "C" not null,
  website_account_id text collate "C" not null,
  end_user_is_blocked boolean not null,
  status text collate "C" not null check (status in ('OPEN', 'CLOSED')),
  case_version integer not null check (case_version >= 1),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3),
  touched_at timestamptz(3) not null generated always as (coalesce(updated_at, created_at)) stored,
  overall_risk_score smallint not null check (overall_risk_score between 1 and 5),
  primary_fraud_label text collate "C" not null,
  recommended_action text collate "C" not null,
  document text not null,
  primary key (tenant_id, case_id)
);
create unique index cases_one_open on cases (tenant_id, subject) where status = 'OPEN';
create index cases_account on cases (tenant_id, website_account_id, sorted_id)
  where website_account_id <> 'UNKNOWN';
create index cases_by_creation on cases
  (tenant_id, status, end_user_is_blocked, primary_fraud_label, overall_risk_score, sorted_id);
create index cases_by_change on cases
  (tenant_id, status, end_user_is_blocked, primary_fraud_label, overall_risk_score, touched_at, sorted_id);
create index cases_unknown_by_creation on cases
  (tenant_id, status, primary_fraud_label, overall_risk_score, sorted_id)
  where website_account_id = 'UNKNOWN';
create index cases_unknown_by_change on cases
  (tenant_id, status, primary_fraud_label, overall_risk_score, touched_at, sorted_id)
  where website_account_id = 'UNKNOWN';

create table idempotency_keys (
  tenant_id uuid not null references tenants,
  key text collate "C" not null,
  fingerprint bytea not null,
  case_id uuid,
  status smallint,
  reply text,
  created_at timestamptz(3) not null,
  primary key (tenant_id, key)
);
create index idempotency_keys_case on idempotency_keys (tenant_id, case_id) where case_id is not null;

-- The tenant's own counter gives events their order. It is taken last in a transaction, so its order is commit order.
create table event_counters (
  tenant_id uuid primary key references tenants,
  last_event_id bigint not null default 0
) with (fillfactor = 50);

create table events (
  tenant_id uuid not null references tenants,
  event_id bigint not null,
  type text collate "C" not null,
  occurred_at timestamptz(3) not null,
  actor text collate "C" not null,
  resource_type text collate "C" not null,
  resource_id text collate "C" not null,
  resource_version integer,
  data jsonb,
  primary key (tenant_id, event_id)
);
create index events_account on events (tenant_id, resource_id) where resource_type = 'end_user_account';

create table activities (
  tenant_id uuid not null references tenants,
  activity_id text collate "C" not null,
  website_account_id text collate "C",
  received_at timestamptz(3) not null,
  scored_at timestamptz(3),
  activity jsonb not null,
  primary key (tenant_id, activity_id)
);
create index activities_unscored on activities (tenant_id, received_at, activity_id) where scored_at is null;
create index activities_account on activities (tenant_id, website_account_id) where website_account_id is not null;
