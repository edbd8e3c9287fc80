-- The identity providers through which a tenant's people can sign in. The secret is needed in clear text to redeem codes.
create table sign_in_issuers (
  tenant_id uuid not null references tenants,
  -- Part of the redirect URI, so it is chosen by the tenant and never changes.
  issuer_key text collate "C" not null,
  name text not null,
  -- Must equal the issuer of every ID token.
  issuer text collate "C" not null,
  client_id text not null,
  client_secret text not null,
  extra_scopes text[] not null,
  trusts_emails boolean not null,
  groups_claim text not null,
  -- [{group, role}], the first match decides.
  role_groups jsonb not null,
  without_group text collate "C" not null check (without_group in ('refuse', 'default_role')),
  default_role text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, issuer_key)
);
create unique index sign_in_issuers_issuer on sign_in_issuers (tenant_id, issuer);

alter table sign_in_issuers enable row level security;
create policy tenant_lock on sign_in_issuers using (tenant_id = nullif(current_setting('casehound.tenant', true), '')::uuid);
