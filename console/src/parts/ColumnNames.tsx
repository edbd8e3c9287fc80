// The head of a small table. Every column is left-aligned except figures.
export function ColumnNames({ names, figures = [] }: { names: string[]; figures?: string[] }) {
  return (
    <thead>
      <tr className="text-xs text-faint">
        {names.map((name) => (
          <th key={name} scope="col" className={`pr-4 pb-1 font-medium ${figures.includes(name) ? "text-right" : ""}`}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
