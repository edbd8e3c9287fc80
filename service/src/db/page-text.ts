import type { Bind } from "./case-filters.ts";
import type { Queryable } from "./postgres/database.ts";

// A slice has one value in each of these columns.
type Slicing = { columns: { name: string; type: string }[]; rows: (number | boolean)[][] };
export type PageText = {
  table: string;
  columns: string;
  // The column that identifies a row in the order, and in the table.
  id: { name: string; inTable: string };
  order: string[];
  direction: "asc" | "desc";
  // The first parameter is the tenant.
  bounds: string[];
  // Has no rows if the bounds select the whole list.
  slices: Slicing;
  limit: string;
  bind: Bind;
};

export function pageText({ isCluster }: Queryable, page: PageText): string {
  if (page.slices.rows.length > 1 && isCluster === true) return lateralText(page);
  const { table, columns, bounds, slices, limit } = page;
  const order = page.order.map((column) => `${column} ${page.direction}`).join(", ");
  const rows = slices.rows.length === 0 ? [[]] : slices.rows;
  // The values are our own numbers and flags, never the caller's text.
  const conditions = rows.map((row) => row.map((value, index) => `${slices.columns[index]?.name} = ${value}`));
  const selectSlice = (selected: string, own: string[]) =>
    `select ${selected} from ${table} where ${[...bounds, ...own].join(" and ")} order by ${order} ${limit}`;
  const [first = [], ...others] = conditions;
  if (others.length === 0) return selectSlice(columns, first);
  const selected = new Set([...columns.split(", "), ...page.order]);
  const branches = conditions.map((own) => `(${selectSlice([...selected].join(", "), own)})`);
  return `select ${columns} from (${branches.join(" union all ")}) as slices order by ${order} ${limit}`;
}

// A cluster plans a statement anew each time, on the coordinator and on the node, and planning dozens of branches takes longer than
// running them. So on a cluster, one branch is repeated for each slice. It reads only the columns of the order. All columns are
// read only for the rows of the page.
function lateralText({ table, columns, id, order, direction, bounds, slices, limit, bind }: PageText): string {
  const lists = slices.columns.map(({ type }, index) => `${bind(slices.rows.map((row) => row[index]))}::${type}[]`);
  const names = slices.columns.map(({ name }) => `wanted_${name}`);
  const conditions = slices.columns.map(({ name }, index) => `${name} = ${names[index]}`);
  const orderOf = (prefix: string) => order.map((column) => `${prefix}${column} ${direction}`).join(", ");
  return `
    select ${columns}
    from (
      select ${order.map((column) => `slice.${column} as found_${column}`).join(", ")}
      from unnest(${lists.join(", ")}) as slices (${names.join(", ")})
      cross join lateral (
        select ${order.join(", ")}
        from ${table}
        where ${[...bounds, ...conditions].join(" and ")}
        order by ${orderOf("")}
        ${limit}
      ) as slice
      order by ${orderOf("slice.")}
      ${limit}
    ) as found
    join ${table} on tenant_id = $1 and ${id.inTable} = found_${id.name}
    order by ${orderOf("found_")}`;
}
