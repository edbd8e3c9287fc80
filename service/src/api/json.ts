import { Failure } from "../domain/failure.ts";

const depthMax = 64;

// JSON as the contract wants it: bytes that are UTF-8, one document, no member name twice. A byte order mark is ignored.
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Failure("bad-request", "The request has no body.");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Failure("bad-request", "The body is not valid UTF-8.");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Failure("bad-request", "The body is not valid JSON.");
  }
  const names = refuseRepeatedNames(text);
  if (typeof value === "object" && value !== null) written.set(value, names);
  return value;
}

const written = new WeakMap<object, string[]>();

// A parsed body's member names as they were written: an object of JavaScript puts those that are numbers first.
export function memberNames(body: object): string[] {
  return written.get(body) ?? Object.keys(body);
}

// The text is known to be valid, so that a scan of its strings and brackets is enough. JSON.parse alone keeps the last of two.
// Returns the names of the outermost object.
function refuseRepeatedNames(text: string): string[] {
  let outermost: string[] = [];
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "{":
        open.push(new Set());
        break;
      case "[":
        open.push(null);
        break;
      case "}":
      case "]": {
        const closed = open.pop();
        if (open.length === 0) outermost = [...(closed ?? [])];
        break;
      }
      case '"':
        at = readString(text, at, open.at(-1) ?? null);
        break;
      default:
    }
    if (open.length > depthMax) throw new Failure("bad-request", `The body is nested deeper than ${depthMax} levels.`);
  }
  return outermost;
}

// Returns the place of the closing quote. What follows a name is a colon, and after a value there never is one.
function readString(text: string, start: number, names: Set<string> | null): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  if (names === null) return end;
  let next = end + 1;
  while (text[next] === " " || text[next] === "\n" || text[next] === "\r" || text[next] === "\t") next++;
  if (text[next] !== ":") return end;
  const name = String(JSON.parse(text.slice(start, end + 1)));
  if (names.has(name)) throw new Failure("bad-request", "The body names a member twice.");
  names.add(name);
  return end;
}

// Order of members and white space do not matter, nor how a number was written: equal values give equal text.
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
