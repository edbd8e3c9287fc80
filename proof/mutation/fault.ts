// A mistake that somebody might make in a function, a method or a constant, and the test file that must detect it. Patterns do
// not contain names of local variables, so renaming one does not affect the fault.
export type Fault = { name: string; file: string; function: string; change: Change; test: string };

// The text to replace and its replacement. `$1` is the first group of the pattern.
type Change = { pattern: RegExp; instead: string };
type Row = [name: string, place: string, pattern: RegExp, instead: string, test: string];

export function faultsIn(file: string, rows: Row[]): Fault[] {
  return rows.map(([name, place, pattern, instead, test]) => ({
    name,
    file,
    function: place,
    change: { pattern, instead },
    test,
  }));
}

// Returns the source with the fault in it. Throws unless the function is declared exactly once and the change fits it exactly
// once.
export function plant(source: string, { name, file, function: place, change }: Fault): string {
  const { start, end } = findDeclaration(source, place, file);
  const text = source.slice(start, end);
  const fits = [...text.matchAll(new RegExp(change.pattern, `${change.pattern.flags}g`))].length;
  if (fits !== 1) throw new Error(`"${name}" matches ${place} in ${file} ${fits} times instead of once`);
  return source.slice(0, start) + text.replace(change.pattern, change.instead) + source.slice(end);
}

// The sources are formatted, so a declaration ends at the next line that has its indentation and closes what it opened.
function findDeclaration(source: string, name: string, file: string): { start: number; end: number } {
  const outer = String.raw`(?:export )?(?:async )?(?:function ${name}\b|const ${name}\b)`;
  const method = String.raw`  (?:async )?${name}(?:<.*?>)?\(.*[{(]$`;
  const found = [...source.matchAll(new RegExp(`^(?:${outer}|${method})`, "gm"))];
  const [first] = found;
  if (!first || found.length > 1) throw new Error(`${file} declares ${name} ${found.length} times instead of once`);
  const start = first.index;
  const line = source.slice(start, source.indexOf("\n", start));
  if (line.endsWith(";")) return { start, end: start + line.length };
  const indent = line.startsWith("  ") ? "  " : "";
  const closing = new RegExp(`^${indent}[)}\\]](?:.*[^{([])?$`, "gm");
  closing.lastIndex = start + line.length;
  const last = closing.exec(source);
  if (!last) throw new Error(`${name} in ${file} has no end`);
  return { start, end: last.index + last[0].length };
}
