-- Search. The reasons that people gave when they closed or reopened a case, as text of its own, because the case's document also
-- contains everything that detection wrote.
alter table cases add column reasons text collate "C";
update cases
set reasons = document::jsonb #>> '{current_state,reason}'
where document::jsonb #>> '{current_state,changed_by}' <> 'system'
  and document::jsonb #>> '{current_state,reason}' not in ('The case was closed.', 'The case was reopened.');
-- The newest reasons. A word that is in every second reason is found here, without reading the whole index of words.
create index cases_reasoned on cases (tenant_id, sorted_id) where reasons is not null;

-- Indexes for parts of texts. Both extensions are part of PostgreSQL and trusted, so the database's owner may create them. Without
-- them, search still finds texts by their beginning.
do $$
begin
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  create index accounts_parts on accounts using gin (tenant_id, website_account_id gin_trgm_ops)
    with (gin_pending_list_limit = 512);
  create index links_email_parts on links using gin (tenant_id, b gin_trgm_ops)
    with (gin_pending_list_limit = 512)
    where kind = 'account-email';
  create index cases_reason_words on cases using gin (tenant_id, to_tsvector('simple', reasons))
    with (gin_pending_list_limit = 512)
    where reasons is not null;
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
  raise warning 'search finds texts only by their beginning: %', sqlerrm;
end
$$;

-- Row-level security allows an index only for conditions that are marked leakproof, and those on parts of texts are not. So these
-- functions run as the owner, and check the tenant themselves: under the role of a tenant's requests, they return nothing of any
-- other tenant. They read only through their indexes; without those, they return nothing. The caller limits their time, because an
-- index of parts returns all matches before the first row is read.
create function is_tenant_visible(wanted uuid) returns boolean language sql stable as $$
  select current_setting('role') <> 'casehound_tenant' or wanted = nullif(current_setting('casehound.tenant', true), '')::uuid
$$;

create function search_account_parts(wanted uuid, pattern text, most integer) returns setof text
language plpgsql stable security definer
set search_path from current set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
begin
  if to_regclass('accounts_parts') is null or not is_tenant_visible(wanted) then
    return;
  end if;
  return query execute
    'select website_account_id from accounts where tenant_id = $1 and website_account_id ilike $2 limit $3'
    using wanted, pattern, most;
end
$$;

create function search_email_parts(wanted uuid, pattern text, most integer) returns table (website_account_id text, email text)
language plpgsql stable security definer
set search_path from current set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
begin
  if to_regclass('links_email_parts') is null or not is_tenant_visible(wanted) then
    return;
  end if;
  return query execute
    'select a::text, b::text from links where tenant_id = $1 and kind = ''account-email'' and b ilike $2 limit $3'
    using wanted, pattern, most;
end
$$;

create function search_reasons(wanted uuid, words tsquery, most integer) returns table (case_id uuid, reasons text)
language plpgsql stable security definer
set search_path from current set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
begin
  if to_regclass('cases_reason_words') is null or not is_tenant_visible(wanted) then
    return;
  end if;
  return query execute
    'select case_id, reasons from cases
     where tenant_id = $1 and reasons is not null and to_tsvector(''simple'', reasons) @@ $2 limit $3'
    using wanted, words, most;
end
$$;
