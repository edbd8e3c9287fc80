import { Failure } from "../../domain/failure.ts";

// Routes on the raw segments, so that %2F is a slash inside an id and nothing is ever normalised.
export type Target = { segments: string[]; query: string };

// Null for what is no path at all (OPTIONS *, CONNECT's host). An absolute address is cut to its path.
export function parseTarget(url: string): Target | null {
  const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
  if (!path.startsWith("/")) return null;
  const mark = path.indexOf("?");
  const raw = mark === -1 ? path : path.slice(0, mark);
  return { segments: raw.slice(1).split("/"), query: mark === -1 ? "" : path.slice(mark + 1) };
}

// Decoded once. Throws where an escape is broken, or no text in UTF-8.
export function decodeSegment(segment: string): string {
  // eslint-disable-next-line no-control-regex -- bytes outside of ASCII must be escaped in a path
  if (!/^[\x21-\x7e]*$/.test(segment)) throw new Failure("bad-request", "The path holds a character that must be escaped.");
  const decoded = segment.includes("%") ? decode(segment) : segment;
  if (decoded === null) throw new Failure("bad-request", "The path holds a broken escape.");
  return decoded;
}

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
  }
}

// Segments that a client or a proxy may have folded away: no id of ours, in any spelling.
export function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment) || segment.includes("\\");
}

// Every parameter once, decoded as forms are. Names that nobody asks for may repeat.
export function parseQuery(query: string, names: string[]): Map<string, string> {
  const values = new Map<string, string>();
  if (query === "") return values;
  for (const pair of query.split("&")) {
    const mark = pair.indexOf("=");
    const name = decode((mark === -1 ? pair : pair.slice(0, mark)).replaceAll("+", " "));
    if (name === null || !names.includes(name)) continue;
    const value = decode((mark === -1 ? "" : pair.slice(mark + 1)).replaceAll("+", " "));
    if (value === null) throw new Failure("bad-request", `The parameter ${name} holds a broken escape.`);
    if (values.has(name)) throw new Failure("bad-request", `The parameter ${name} is there twice.`);
    values.set(name, value);
  }
  return values;
}
