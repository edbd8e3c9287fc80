-- A change of a rule is told by the name that readers of the feed are promised.
update events set type = 'rule.changed' where type = 'rule.updated';

-- Where changes are sent. Secrets are kept as they are, for each message is signed with them. position is the last event that
-- deliveries were made of.
create table webhooks (
  tenant_id uuid not null references tenants,
  webhook_id uuid not null,
  url text not null,
  types text[] not null,
  is_enabled boolean not null,
  disabled_reason text,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz(3),
  position bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, webhook_id)
);

-- An event on its way to a webhook. Who sends one moves next_at on first, so that nobody else takes it up meanwhile, and whoever
-- is killed over it has held it up for a while and no more. resource is a hash: what has the same is sent in order.
create table webhook_deliveries (
  tenant_id uuid not null,
  webhook_id uuid not null,
  event_id bigint not null,
  resource bigint not null,
  state text collate "C" not null check (state in ('WAITING', 'DELIVERED', 'DEAD')),
  attempts integer not null,
  next_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  first_at timestamptz(3),
  last_at timestamptz(3),
  last_status smallint,
  last_error text,
  primary key (tenant_id, webhook_id, event_id),
  foreign key (tenant_id, webhook_id) references webhooks on delete cascade
);
create index webhook_deliveries_due on webhook_deliveries (tenant_id, webhook_id, next_at) where state = 'WAITING';
create index webhook_deliveries_order on webhook_deliveries (tenant_id, webhook_id, resource, event_id) where state = 'WAITING';
create index webhook_deliveries_dead on webhook_deliveries (tenant_id, webhook_id, event_id) where state = 'DEAD';

do $$
declare
  locked text;
begin
  foreach locked in array array['webhooks', 'webhook_deliveries'] loop
    execute format('alter table %I enable row level security', locked);
    execute format(
      'create policy tenant_lock on %I using (tenant_id = nullif(current_setting(''casehound.tenant'', true), '''')::uuid)',
      locked
    );
  end loop;
end
$$;
