-- Search finds a phrase of a note. The ids of notes begin with their time, so the newest notes are the end of this index.
alter table case_notes alter column text type text collate "C";
create index case_notes_newest on case_notes (tenant_id, note_id);

do $$
begin
  create index case_notes_words on case_notes using gin (tenant_id, to_tsvector('simple', text))
    with (gin_pending_list_limit = 512);
exception when undefined_object or feature_not_supported then
  raise warning 'search finds only the newest notes: %', sqlerrm;
end
$$;

-- Runs as the owner and checks the tenant itself, as search_reasons does.
create function search_notes(wanted uuid, words tsquery, most integer) returns table (case_id uuid, note text)
language plpgsql stable security definer
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
begin
  if to_regclass('case_notes_words') is null or not is_tenant_visible(wanted) then
    return;
  end if;
  return query execute
    'select case_id, text from case_notes where tenant_id = $1 and to_tsvector(''simple'', text) @@ $2 limit $3'
    using wanted, words, most;
end
$$;

do $$
begin
  execute format('alter function search_notes(uuid, tsquery, integer) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function search_notes(uuid, tsquery, integer) from public;
