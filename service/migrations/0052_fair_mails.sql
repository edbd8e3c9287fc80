-- Mails that wait are claimed tenant by tenant, so that one tenant with many does not delay the others. The release before this one
-- still claims them by notification_mails_waiting, so a later release drops that index.
create index notification_mails_waiting_of_tenant on notification_mails (tenant_id, next_at) where state = 'WAITING';
