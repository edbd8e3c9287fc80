-- Passkeys (WebAuthn credentials) of people.
create table user_passkeys (
  tenant_id uuid not null references tenants,
  user_id uuid not null,
  passkey_id uuid not null,
  -- The authenticator's id of the credential.
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null,
  -- When the challenge of the last use expired, in milliseconds. Earlier challenges are used up.
  last_challenge_ms bigint not null,
  name text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  primary key (tenant_id, passkey_id),
  foreign key (tenant_id, user_id) references users
);
create unique index user_passkeys_credential on user_passkeys (tenant_id, credential_id);
create index user_passkeys_user on user_passkeys (tenant_id, user_id);

alter table user_passkeys enable row level security;
create policy tenant_lock on user_passkeys using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
