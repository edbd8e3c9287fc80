-- What each person wants to be told by e-mail. position: the last event that a mail covered. next_at: not looked at before then.
-- It contains no data of accounts.
create table notification_settings (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  settings jsonb not null,
  notifications_version integer not null,
  is_on boolean not null,
  position bigint not null,
  next_at timestamptz(3) not null,
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users
);
create index notification_settings_due on notification_settings (next_at) where is_on;

-- Mails: which events one covers, and what became of it. There is no text: it is written when the mail is sent, so nothing here can
-- name an account. Whoever sends one moves next_at first, so nobody else sends it meanwhile.
create table notification_mails (
  tenant_id uuid not null references tenants,
  mail_id uuid not null,
  user_id uuid not null,
  kind text collate "C" not null check (kind in ('digest', 'test')),
  after_event bigint not null,
  last_event bigint not null,
  state text collate "C" not null check (state in ('WAITING', 'SENT', 'DEAD')),
  attempts integer not null,
  next_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  first_at timestamptz(3),
  last_at timestamptz(3),
  last_error text,
  primary key (tenant_id, mail_id)
);
create index notification_mails_waiting on notification_mails (next_at) where state = 'WAITING';
create unique index notification_mails_one on notification_mails (tenant_id, user_id) where state = 'WAITING';
create index notification_mails_person on notification_mails (tenant_id, user_id, created_at);
create index notification_mails_tenant on notification_mails (tenant_id, created_at);
create index notification_mails_dead on notification_mails (created_at) where state = 'DEAD';

-- Whether mails and chat messages may name accounts.
alter table tenants add column notification_details text collate "C" not null default 'none'
  check (notification_details in ('none', 'ids'));

-- Webhooks that write to people: one message for many events. chat_next_at: no message before then.
alter table webhooks add column format text collate "C" not null default 'standard' check (format in ('standard', 'slack', 'teams'));
alter table webhooks add column details text collate "C" not null default 'none' check (details in ('none', 'ids'));
alter table webhooks add column view_id uuid;
alter table webhooks add column chat_next_at timestamptz(3);

do $$
declare
  locked text;
begin
  foreach locked in array array['notification_settings', 'notification_mails'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
