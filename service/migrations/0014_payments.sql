-- The order that a payment belongs to, by which a chargeback can be labelled.
alter table activities add column order_id text collate "C";
create index activities_order on activities (tenant_id, order_id) where order_id is not null;
-- Finds the activity of a label. Only these types are rated, so only they can be labelled.
create index activities_rated on activities (tenant_id, id_key)
  where type in (
    'login_succeeded', 'signup', 'password_changed', 'email_changed', 'mfa_changed', 'payee_added', 'payment', 'transfer'
  );
