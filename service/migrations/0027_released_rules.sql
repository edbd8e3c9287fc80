-- Null means the default, which the service knows. Nobody could tell an empty list from the earlier default.
alter table detection_settings
  alter column released_rules drop not null,
  alter column released_rules drop default;

update detection_settings
set released_rules = null, models_revision = models_revision + 1
where released_rules = '{}';
