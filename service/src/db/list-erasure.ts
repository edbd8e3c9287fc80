import { databasePattern, databaseToken, type Erased } from "../domain/erasure.ts";
import type { ListType } from "../domain/list.ts";
import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { readAgain } from "./value-lists.ts";

// Values of these types can be an account's id. An address, a country, a network or a domain is never meant as one: otherwise
// somebody who calls themselves `203.0.113.0/24` could get an entry removed by having their account erased.
const idTypes: ListType[] = ["account", "device", "email", "payee", "instrument", "user_agent", "text"];
// Their keys are in lower case.
const lowerTypes: ListType[] = ["email", "user_agent"];
// These are free text of the tenant, so they may also contain the id among other words.
const freeTypes: ListType[] = ["device", "text"];

// Deletes the entries that are the erased account's id or contain it as a token of its own, and takes the id out of reasons. The
// removals are not recorded by their keys, because the keys contain the id.
export async function eraseAccountFromLists(tx: Queryable, tenantId: string, erased: Erased): Promise<void> {
  const { id, pseudonym } = erased;
  const [lower, token] = [id.toLowerCase(), databaseToken(id)];
  const removed = await tx.query<{ list_name: string }>(sql`
    delete from list_entries as e
    using (
      select name, case when type = any(${lowerTypes}::text[]) then ${lower}::text else ${id}::text end as key
      from lists
      where tenant_id = ${tenantId} and type = any(${idTypes}::text[])
    ) as l
    where e.tenant_id = ${tenantId} and e.list_name = l.name and e.key = l.key
    returning e.list_name`);
  if (token !== null) removed.push(...(await deleteContaining(tx, tenantId, { id, token })));
  // These rows only tell engines what was removed. Engines read everything again instead.
  const earlier = await tx.query<{ list_name: string }>(sql`
    delete from list_removals
    where tenant_id = ${tenantId} and (key = any(${[id, lower]}::text[]) or key ~ ${token}::text)
    returning list_name`);
  const [first] = [...removed, ...earlier];
  if (first) await readAgain(tx, tenantId, first.list_name);
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update list_entries
    set reason = regexp_replace(reason, ${pattern}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and reason ~ ${pattern}`);
}

// An entry that is another account's id is kept, whatever that id contains.
async function deleteContaining(
  tx: Queryable,
  tenantId: string,
  { id, token }: { id: string; token: string },
): Promise<{ list_name: string }[]> {
  return tx.query<{ list_name: string }>(sql`
    delete from list_entries as e
    using lists as l
    where l.tenant_id = ${tenantId}
      and l.type = any(${freeTypes}::text[])
      and e.tenant_id = ${tenantId}
      and e.list_name = l.name
      and position(${id} in e.key) > 0
      and e.key ~ ${token}
      and not exists (select 1 from accounts as a where a.tenant_id = ${tenantId} and a.website_account_id = e.key)
    returning e.list_name`);
}
