export type Piece = { kind: "same" | "out" | "in"; text: string };

const partsMax = 800;

// Which words were removed and added. Beyond a size that no rule reaches, the whole text counts as changed.
export function diffWords(before: string, after: string): Piece[] {
  const [a, b] = [partsOf(before), partsOf(after)];
  if (a.length > partsMax || b.length > partsMax) return joined([piece("out", before), piece("in", after)]);
  const lengths = longestCommon(a, b);
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push(piece("same", a[i] ?? ""));
      [i, j] = [i + 1, j + 1];
    } else if (j >= b.length || (i < a.length && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      pieces.push(piece("out", a[i++] ?? ""));
    } else pieces.push(piece("in", b[j++] ?? ""));
  }
  return joined(pieces);
}

function piece(kind: Piece["kind"], text: string): Piece {
  return { kind, text };
}

function partsOf(text: string): string[] {
  return text.match(/[\w.]+|\s+|[^\w.\s]/g) ?? [];
}

function longestCommon(a: string[], b: string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (!row) continue;
      const next = lengths[i + 1];
      row[j] = a[i] === b[j] ? 1 + (next?.[j + 1] ?? 0) : Math.max(next?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function joined(pieces: Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const each of pieces) {
    const last = out.at(-1);
    if (last?.kind === each.kind) last.text += each.text;
    else out.push({ ...each });
  }
  return out;
}
