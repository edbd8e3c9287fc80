-- retention_days: how long this tenant's raw activity is kept; null means as long as the process says (RETENTION_DAYS).
-- ip_key: with ip_policy 'hash', addresses are kept as an HMAC under this key. It is never shown. Two random UUIDs have 244 random
-- bits, and need no extension.
alter table tenants
  add column retention_days integer check (retention_days between 1 and 3650),
  add column ip_key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- The last day on which activity with this user agent was received. What is stored already counts as seen today.
alter table user_agents add column last_seen date not null default current_date;
alter table user_agents alter column last_seen drop default;

-- Which release's default rules a tenant has. A later release replaces those that nobody has edited.
alter table detection_settings add column defaults_version integer not null default 1;

-- Rules whose patterns took too long and that rest until limited_until. Engines write this and the API shows it.
create table rule_limits (
  tenant_id uuid not null references tenants,
  rule_id text collate "C" not null,
  limited_at timestamptz(3) not null,
  limited_until timestamptz(3) not null,
  primary key (tenant_id, rule_id)
);
alter table rule_limits enable row level security;
create policy tenant_lock on rule_limits
  using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
