const charactersMax = 500_000;

export type CsvPart = { csv: string; first_line: number };

// Splits a file into parts that the service takes, each with the file's first line. A line break inside quotes does not end a
// record.
export function partsOf(text: string, max = charactersMax): CsvPart[] {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  const header = lines[0] ?? "";
  const isNamed = /(^|[,;\t])\s*"?value"?\s*([,;\t]|\r?$)/i.test(header);
  const parts: CsvPart[] = [];
  let part: string[] = [];
  let [size, line, first, isQuoted] = [0, isNamed ? 2 : 1, isNamed ? 2 : 1, false];
  const end = () => {
    const csv = isNamed ? [header, ...part].join("\n") : part.join("\n");
    if (part.some((each) => each.trim() !== "")) parts.push({ csv, first_line: first });
    [part, size, first] = [[], 0, line];
  };
  for (const each of isNamed ? lines.slice(1) : lines) {
    if (!isQuoted && size + each.length > max - header.length) end();
    part.push(each);
    size += each.length + 1;
    line++;
    if ((each.match(/"/g)?.length ?? 0) % 2 === 1) isQuoted = !isQuoted;
  }
  end();
  return parts;
}
