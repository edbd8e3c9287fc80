-- Secrets that were rotated away but promised to work for a while: [{"secret_hash", "until"}], oldest first. There was room for one,
-- so a second rotation ended a secret before its time.
-- token_generation goes up when a client's secrets are revoked at once. Tokens of an earlier generation are rejected.
alter table clients
  add column previous_secrets jsonb not null default '[]',
  add column token_generation integer not null default 0;

update clients
set previous_secrets = jsonb_build_array(jsonb_build_object(
  'secret_hash', previous_secret_hash,
  'until', to_char(previous_secret_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
))
where previous_secret_hash is not null and previous_secret_until is not null;

alter table clients
  drop column previous_secret_hash,
  drop column previous_secret_until;
