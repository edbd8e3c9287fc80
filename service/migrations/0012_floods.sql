-- Servers are scored before browsers, so a parcel says which of the two it is from. No parcel mixes them.
-- What waits during the upgrade is scored first, in the order in which it came: its origin is inside the packed parcel, and
-- nothing that a server sent may be delayed by the upgrade. The default serves the processes of the version before.
alter table inbox add column is_browser boolean not null default false;
alter table inbox drop constraint inbox_pkey;
alter table inbox add primary key (tenant_id, is_browser, received_at, parcel_id);

-- The cases of a source, also closed ones: an erasure takes an account's id out of their texts.
create index cases_source on cases (tenant_id, subject) where website_account_id = 'UNKNOWN';
