-- A case as lists show it: JSON without its first brace and without the flag of its account. `item_version` is the version of the
-- case that it shows. Cases from before this release have no item, and the release before this one changes cases without changing
-- the item. Lists then build it from the columns.
alter table cases
  add column item text,
  add column item_version int;
