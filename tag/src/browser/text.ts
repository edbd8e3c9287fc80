const attributesMax = 30;
const nameCharactersMax = 64;
const valueCharactersMax = 1024;

export function clip(text: string, charactersMax: number): string {
  // Half a surrogate pair is not a character, and databases reject it.
  return text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, "");
}

// Queries and fragments may contain tokens, searches and e-mail addresses, so they never leave the browser.
export function withoutQuery(address: string): string {
  return clip(address.replace(/[?#].*/s, ""), valueCharactersMax);
}

export function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
}

// crypto.randomUUID is missing on pages without TLS.
export function uuid(): string {
  const random = hex(crypto.getRandomValues(new Uint8Array(16)));
  return random.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-a$4-");
}

function isFlat(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value === "string" || typeof value === "boolean";
}

export function flatten(values: unknown): object {
  const kept = Object.entries(values ?? {}).filter(
    ([name, value]) => name !== "" && name.length <= nameCharactersMax && isFlat(value),
  );
  return Object.fromEntries(
    kept
      .slice(0, attributesMax)
      .map(([name, value]) => [name, typeof value === "string" ? clip(value, valueCharactersMax) : value]),
  );
}
