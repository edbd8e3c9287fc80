-- When the account was first active. It is `infinity` while there was no activity, and null for accounts from before this column:
-- their first activity is at most as late as created_at.
alter table accounts add column first_activity_at timestamptz(3);
