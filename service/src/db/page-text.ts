// A slice has one value in each of these columns.
type Slicing = { columns: string[]; rows: (number | boolean)[][] };
export type PageText = {
  table: string;
  columns: string;
  order: string[];
  direction: "asc" | "desc";
  // The first parameter is the tenant.
  bounds: string[];
  // Has no rows if the bounds select the whole list.
  slices: Slicing;
  limit: string;
};

export function pageText(page: PageText): string {
  const { table, columns, bounds, slices, limit } = page;
  const order = page.order.map((column) => `${column} ${page.direction}`).join(", ");
  const rows = slices.rows.length === 0 ? [[]] : slices.rows;
  // The values are our own numbers and flags, never the caller's text.
  const conditions = rows.map((row) => row.map((value, index) => `${slices.columns[index]} = ${value}`));
  const selectSlice = (selected: string, own: string[]) =>
    `select ${selected} from ${table} where ${[...bounds, ...own].join(" and ")} order by ${order} ${limit}`;
  const [first = [], ...others] = conditions;
  if (others.length === 0) return selectSlice(columns, first);
  const selected = new Set([...columns.split(", "), ...page.order]);
  const branches = conditions.map((own) => `(${selectSlice([...selected].join(", "), own)})`);
  return `select ${columns} from (${branches.join(" union all ")}) as slices order by ${order} ${limit}`;
}
