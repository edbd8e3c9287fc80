-- A budget is compared with the one that was sent before, so it must be stored exactly. Through text, because a direct cast would
-- turn 0.1 into 0.10000000149011612.
alter table detection_settings alter column cases_per_day type double precision using cases_per_day::text::double precision;
