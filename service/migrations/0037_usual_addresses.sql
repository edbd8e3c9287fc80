-- The addresses from which a person has signed in, as keyed hashes, newest first. Attempts from there have a count of their own.
alter table users
  add column usual_addresses bytea[] not null default '{}';
-- Every new attempt deletes a few that have left the window, so the table cannot grow with an attack.
create index sign_in_attempts_last on sign_in_attempts (last_at);
