function fnv(text: string, from: number): number {
  let hash = from;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return hash;
}

// Finds names that collide under FNV-1a, which earlier releases used to hash names. An attacker who knows that can do the same:
// each piece has two forms that lead to the same state.
export function collidingNames(): string[] {
  const pieces: [string, string][] = [];
  let state = 0x811c9dc5 | 0;
  while (pieces.length < 3) {
    const seen = new Map<number, string>();
    for (let index = 0; ; index++) {
      // Multiplied by an odd number, so that words differ in all of their letters. Then a collision is found sooner.
      const word = `${(Math.imul(index, 0x9e3779b1) >>> 0).toString(36)}-`;
      const hash = fnv(word, state);
      const twin = seen.get(hash);
      seen.set(hash, word);
      if (twin === undefined) continue;
      pieces.push([twin, word]);
      state = hash;
      break;
    }
  }
  return Array.from({ length: 8 }, (_, index) => pieces.map((forms, place) => forms[(index >> place) & 1]).join(""));
}
