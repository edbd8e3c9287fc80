-- The people of a tenant. An e-mail is kept in lower case, and never changes: it is how the audit trail names a person.
create table users (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  email text collate "C" not null,
  name text not null,
  role text collate "C" not null check (role in ('investigator', 'lead', 'admin')),
  -- Null until a link was used; people who come by another issuer may never have one.
  password_hash text,
  -- The other issuer's name for the person, bound at the first sign-in from there: issuer, space, subject.
  external_subject text collate "C",
  is_disabled boolean not null,
  created_at timestamptz(3) not null,
  last_sign_in_at timestamptz(3),
  primary key (tenant_id, user_id)
);
create unique index users_email on users (tenant_id, email);
create unique index users_subject on users (tenant_id, external_subject) where external_subject is not null;
-- For who signs in and names no tenant.
create index users_by_email on users (email);

-- Links that work once. Of their tokens only a hash is kept. A set-up link makes its user when it is used.
create table user_links (
  tenant_id uuid not null references tenants,
  token_hash bytea not null,
  purpose text collate "C" not null check (purpose in ('set-up', 'invitation', 'password-reset')),
  user_id uuid,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (tenant_id, token_hash),
  foreign key (tenant_id, user_id) references users,
  check ((user_id is null) = (purpose = 'set-up'))
);
create index user_links_user on user_links (tenant_id, user_id);

-- Browsers that are signed in. Of the cookie only a hash is kept.
create table web_sessions (
  tenant_id uuid not null references tenants,
  token_hash bytea not null,
  user_id uuid not null,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, token_hash),
  foreign key (tenant_id, user_id) references users
);
create index web_sessions_user on web_sessions (tenant_id, user_id, created_at);

-- Sign-ins that failed or are under way, by a hash of the e-mail, of the e-mail and a tenant's name, or of the address, shared
-- by all processes. Nobody has shown yet which tenant it is about, so this is one of the tables without one.
create table sign_in_attempts (
  subject_hash bytea primary key,
  attempted_at timestamptz(3)[] not null,
  last_at timestamptz(3) not null
);
