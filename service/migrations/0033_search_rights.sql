-- The functions of search run as the owner. Other users of the database may not call them, and nobody's temporary tables may stand
-- in for the service's. The service grants them to the role of tenants' requests when it starts.
do $$
declare
  named regprocedure;
begin
  foreach named in array array[
    'search_account_parts(uuid, text, integer)', 'search_email_parts(uuid, text, integer)', 'search_reasons(uuid, tsquery, integer)'
  ]::regprocedure[] loop
    execute format('alter function %s set search_path = %I, pg_temp', named, current_schema());
    execute format('revoke execute on function %s from public', named);
  end loop;
end
$$;
