import { Failure } from "../../domain/failure.ts";

// Routing uses the raw segments, so %2F is a slash inside an id and nothing is ever normalized.
export type Target = { segments: string[]; query: string };

// Returns null if the target is not a path (OPTIONS *, CONNECT's host). An absolute URL is cut to its path.
export function parseTarget(url: string): Target | null {
  const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
  if (!path.startsWith("/")) return null;
  const mark = path.indexOf("?");
  const raw = mark === -1 ? path : path.slice(0, mark);
  return { segments: raw.slice(1).split("/"), query: mark === -1 ? "" : path.slice(mark + 1) };
}

// Decodes a segment once. Throws if an escape is broken or its bytes are not UTF-8.
export function decodeSegment(segment: string): string {
  // eslint-disable-next-line no-control-regex -- bytes outside of ASCII must be escaped in a path
  if (!/^[\x21-\x7e]*$/.test(segment))
    throw new Failure("bad-request", "The path contains a character that must be percent-encoded.");
  const decoded = segment.includes("%") ? decode(segment) : segment;
  if (decoded === null) throw new Failure("bad-request", "The path contains an invalid percent-encoding.");
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

// Segments that a client or a proxy may have normalized away. No id has this form, in any spelling.
export function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment) || segment.includes("\\");
}

// Returns the named parameters, form-decoded. Each may appear only once. Other parameters are ignored and may repeat.
export function parseQuery(query: string, names: string[]): Map<string, string> {
  const values = new Map<string, string>();
  if (query === "") return values;
  for (const pair of query.split("&")) {
    const mark = pair.indexOf("=");
    const name = decode((mark === -1 ? pair : pair.slice(0, mark)).replaceAll("+", " "));
    if (name === null || !names.includes(name)) continue;
    const value = decode((mark === -1 ? "" : pair.slice(mark + 1)).replaceAll("+", " "));
    if (value === null) throw new Failure("bad-request", `The parameter ${name} contains an invalid percent-encoding.`);
    if (values.has(name)) throw new Failure("bad-request", `The parameter ${name} appears more than once.`);
    values.set(name, value);
  }
  return values;
}
