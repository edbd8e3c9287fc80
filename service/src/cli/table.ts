const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

// Prints aligned columns for people. Numbers are right-aligned.
type Cell = Parameters<typeof cellText>[0];

export function table(columns: string[], lines: Cell[][]): string {
  const cells = [columns, ...lines.map((line) => line.map(cellText))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const isNumber = columns.map((_, at) => lines.length > 0 && lines.every((line) => typeof line[at] === "number"));
  return cells
    .map((row) =>
      row
        .map((cell, at) => (isNumber[at] === true ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

// Prints one line for each name and its value.
export function rows(facts: Record<string, Cell | string[]>): string {
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  return Object.entries(facts)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(Array.isArray(value) ? value.join(",") : value)}`)
    .join("\n");
}

// Prints one page of a list, and says so if there is more.
export function listText(page: string, { next_cursor }: { next_cursor: string | null }): string {
  return next_cursor === null ? page : `${page}\n... and more: raise --limit, up to 1000, to see them`;
}

// Text from outside may contain anything, and a terminal would execute control characters.
export function cellText(value: string | number | boolean | null | undefined): string {
  return String(value ?? "-").replaceAll(unseen, "�");
}

// The same for text of several lines.
export function printable(text: string): string {
  return text.replaceAll(unseen, (each) => (each === "\n" || each === "\t" ? each : "�"));
}
