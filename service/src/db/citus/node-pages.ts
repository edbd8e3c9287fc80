import { escapeLiteral } from "pg";
import type { Queryable } from "../postgres/database.ts";
import { sql, statement, textArray } from "../postgres/sql.ts";

// `distribute` creates it on every node. It runs a statement of one text on a tenant's shards, as the user who calls it, and keeps
// the plan. Citus itself would plan each list anew, on the coordinator and on the node. `given` are literals. Without a question, it
// returns null if the statement is not prepared. The shards are found anew in each call, because a shard can be split.
export const pageFunction = "casehound_page";

// A prepared statement of many slices takes about 200 kB in a session, and each shard needs its own.
const preparedMax = 100;
// If the coordinator has shards too, the session is the service's own, which has other prepared statements.
const prefix = `${pageFunction} `;

export const createPageFunction = `
  create or replace function ${pageFunction}(tenant uuid, page text, question text, given text, is_kept boolean) returns text
  language plpgsql as $$
  declare
    own text := '${prefix}' || page || get_shard_id_for_distribution_column('event_counters', tenant);
    shards text := question;
    known record;
    answer text;
  begin
    if question is not null then
      for known in
        select distinct p.logicalrelid::text as name,
          shard_name(p.logicalrelid, get_shard_id_for_distribution_column(p.logicalrelid, tenant)) as shard
        from regexp_matches(question, '\\m(?:from|join)\\s+(\\w+)\\M', 'g') as word
        join pg_dist_partition as p on p.logicalrelid = to_regclass(word[1])
        where p.partmethod = 'h'
      loop
        shards := regexp_replace(shards, '\\m(from|join)\\s+' || known.name || '\\M', '\\1 ' || known.shard, 'g');
      end loop;
      if (
        select count(*) >= ${preparedMax} or bool_or(name = own)
        from pg_prepared_statements
        where starts_with(name, '${prefix}')
      ) then
        for known in select name from pg_prepared_statements where starts_with(name, '${prefix}') loop
          execute format('deallocate %I', known.name);
        end loop;
      end if;
      execute format('prepare %I as %s', own, shards);
    end if;
    begin
      execute 'execute ' || quote_ident(own) || '(' || given || ')' into answer;
    exception when invalid_sql_statement_name then
      return null;
    end;
    if not is_kept then
      execute format('deallocate %I', own);
    end if;
    return answer;
  end $$`;

// The first value is the tenant. Unless `isKept`, the statement is planned for its values.
type Page = { text: string; values: unknown[]; isKept: boolean };

// Returns the text that the statement selects.
export async function askPage(database: Queryable, { text, values, isKept }: Page): Promise<string> {
  // Without a tenant, Citus would follow a null pointer, and the whole coordinator would restart.
  if (typeof values[0] !== "string") throw new Error("a page on a cluster needs a tenant");
  const { name } = statement(text, values);
  const given = values.map(literal).join(", ");
  const ask = async (question: string | null): Promise<string | null> => {
    const [row] = await database.query<{ answer: string | null }>(
      sql`
      select casehound_page(${values[0]}::uuid, ${name}::text, ${question}::text, ${given}::text, ${isKept}::boolean) as answer`,
    );
    return row?.answer ?? null;
  };
  const answer = (isKept ? await ask(null) : null) ?? (await ask(text));
  if (answer === null) throw new Error("the node did not return a page");
  return answer;
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return escapeLiteral(textArray(value));
  if (typeof value === "string") return escapeLiteral(value);
  if (typeof value === "number" || typeof value === "boolean") return `'${value}'`;
  throw new Error("a page on a cluster takes only texts, numbers, flags and arrays of texts");
}
