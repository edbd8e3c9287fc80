// A mistake that somebody might make inside of a function, a method or a constant, and the test file that has to see it. Patterns
// leave out the names of locals, so that to rename one does not concern the fault.
export type Fault = { name: string; file: string; function: string; change: Change; test: string };

// What is replaced, and by what: `$1` is the first group of the pattern.
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

// The source with the fault in it. Throws where the function is not there once, or the change does not fit it once.
export function plant(source: string, { name, file, function: place, change }: Fault): string {
  const { start, end } = findDeclaration(source, place, file);
  const text = source.slice(start, end);
  const fits = [...text.matchAll(new RegExp(change.pattern, `${change.pattern.flags}g`))].length;
  if (fits !== 1) throw new Error(`"${name}" fits ${place} of ${file} ${fits} times, not once`);
  return source.slice(0, start) + text.replace(change.pattern, change.instead) + source.slice(end);
}

// The sources are formatted: a declaration ends with the next line that is no further in and closes what it opened.
function findDeclaration(source: string, name: string, file: string): { start: number; end: number } {
  const outer = String.raw`(?:export )?(?:async )?(?:function ${name}\b|const ${name}\b)`;
  const method = String.raw`  (?:async )?${name}(?:<.*?>)?\(.*[{(]$`;
  const found = [...source.matchAll(new RegExp(`^(?:${outer}|${method})`, "gm"))];
  const [first] = found;
  if (!first || found.length > 1) throw new Error(`${file} declares ${name} ${found.length} times, not once`);
  const start = first.index;
  const line = source.slice(start, source.indexOf("\n", start));
  if (line.endsWith(";")) return { start, end: start + line.length };
  const indent = line.startsWith("  ") ? "  " : "";
  const closing = new RegExp(`^${indent}[)}\\]](?:.*[^{([])?$`, "gm");
  closing.lastIndex = start + line.length;
  const last = closing.exec(source);
  if (!last) throw new Error(`${name} of ${file} has no end`);
  return { start, end: last.index + last[0].length };
}
