// Requests for cases that are spread over a whole store.
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Shot } from "./drive.ts";
import type { Store } from "./store.ts";

type Found = { tenant_id: string; case_id: string; case_version: number };
type Wanted = { count: number; tenants: number; isOpen: boolean };

// The same number for each tenant. For a single tenant it samples whole pages, so millions of cases are not read for a few
// thousand.
async function sample(store: Store, { count, tenants, isOpen }: Wanted): Promise<Found[]> {
  const percent = store.tenants.length > 1 ? 100 : Math.min(100, (100 * count * (isOpen ? 8 : 2)) / store.cases);
  const found = await store.database.query<Found>(
    statement(
      `select tenant_id, case_id, case_version
       from (
         select *, row_number() over (partition by tenant_id order by case_id) as place
         from cases tablesample system (${percent})
         where tenant_id = any($1::uuid[]) and (status = 'OPEN') = $2
       ) as found
       order by place, case_id
       limit $3`,
      [store.tenants.slice(0, tenants).map((each) => each.tenant_id), isOpen, count],
    ),
  );
  if (found.length === 0) throw new Error("no case was found to request");
  return found;
}

type Asked = Wanted & { tokens: string[] };

// Each request carries the token of its own tenant.
export async function caseShots(store: Store, wanted: Asked): Promise<Shot[]> {
  const places = new Map(store.tenants.map((tenant, index) => [tenant.tenant_id, { slug: tenant.slug, index }]));
  return (await sample(store, wanted)).map(({ tenant_id, case_id, case_version }): Shot => {
    const { slug, index } = places.get(tenant_id) ?? { slug: "", index: 0 };
    const path = `/v2/${slug}/cases/${case_id}`;
    const headers = { authorization: `Bearer ${wanted.tokens[index]}` };
    if (!wanted.isOpen) return { method: "GET", path, headers };
    const body = JSON.stringify({ status: "CLOSED", case_version, disposition: "CONFIRMED_FRAUD" });
    return { method: "PUT", path, headers, body };
  });
}
