-- The zone in which the tenant's hours and weekends are counted, an IANA name.
alter table tenants add column time_zone text collate "C" not null default 'UTC';
