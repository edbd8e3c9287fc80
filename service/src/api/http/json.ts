import { Failure } from "../../domain/failure.ts";

const depthMax = 64;

// Parses JSON as the contract requires: UTF-8, one document, no duplicate member names. A byte order mark is ignored.
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
  const { count, outermost, hasRounded } = scan(text);
  // JSON.parse keeps only the last of two equal names. Then the text has more names than the value.
  if (count !== countMembers(value)) throw new Failure("bad-request", "The body contains a duplicate member name.");
  // Parsed again only if needed, because a reviver is slow. TypeScript does not know its third argument yet.
  if (hasRounded) value = JSON.parse(text, noteRounded as (this: object, name: string, value: unknown) => unknown);
  if (typeof value === "object" && value !== null) written.set(value, outermost);
  return value;
}

const written = new WeakMap<object, string[]>();

// A parsed body's member names in the order sent. A JavaScript object moves names that are integers to the front.
export function memberNames(body: object): string[] {
  return written.get(body) ?? Object.keys(body);
}

const rounded = new WeakMap<object, Set<string>>();

// Whether a member of a parsed object or array was written with a fraction but was rounded to an integer, such as
// 0.99999999999999999999, which a double cannot represent.
export function isRounded(holder: object, name: string | number): boolean {
  return rounded.get(holder)?.has(String(name)) === true;
}

function noteRounded(this: object, name: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || !isRoundedLiteral(source ?? "")) return value;
  const names = rounded.get(this) ?? new Set();
  rounded.set(this, names.add(name));
  return value;
}

// An integer that a double holds exactly has at most 16 digits.
const shortDigits = /^-?\d{1,15}$/;

function isRoundedLiteral(literal: string): boolean {
  if (shortDigits.test(literal)) return false;
  const value = Number(literal);
  if (!Number.isSafeInteger(value)) return false;
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (first < end && digits[first] === "0") first++;
  while (end > first && digits[end - 1] === "0") end--;
  // How many digits come after the decimal point, without trailing zeros.
  const behind = end - whole.length - Number(exponent);
  return first < end && behind > 0;
}

const [quote, backslash, colon, space] = [0x22, 0x5c, 0x3a, 0x20];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

const numberUnits = new Set(Array.from("0123456789+-.eE", (character) => character.charCodeAt(0)));
const [minus, zero, nine] = [0x2d, 0x30, 0x39];

// The text is known to be valid JSON, so scanning its strings, numbers and brackets is enough. A colon follows every name and
// never follows a value.
function scan(text: string): { count: number; outermost: string[]; hasRounded: boolean } {
  const hasEscapes = text.includes("\\");
  const outermost: string[] = [];
  let [count, depth] = [0, 0];
  let hasRounded = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      const start = at;
      at = hasEscapes ? endOfString(text, start) : text.indexOf('"', start + 1);
      let next = at + 1;
      // Skip white space. Every other character that can follow a string has a higher code.
      while (text.charCodeAt(next) <= space) next++;
      if (text.charCodeAt(next) !== colon) continue;
      count++;
      if (depth === 1) outermost.push(String(JSON.parse(text.slice(start, at + 1))));
    } else if (unit === openBrace || unit === openBracket) {
      if (++depth > depthMax) throw new Failure("bad-request", `The body is nested deeper than ${depthMax} levels.`);
    } else if (unit === closeBrace || unit === closeBracket) depth--;
    else if (unit === minus || (unit >= zero && unit <= nine)) {
      const start = at;
      at = endOfNumber(text, start);
      hasRounded ||= isRoundedLiteral(text.slice(start, at + 1));
    }
  }
  return { count, outermost, hasRounded };
}

// The index of the number's last character.
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (numberUnits.has(text.charCodeAt(end))) end++;
  return end - 1;
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  for (let unit = text.charCodeAt(end); unit !== quote; unit = text.charCodeAt(end)) end += unit === backslash ? 2 : 1;
  return end;
}

// The recursion is bounded, because scan has already limited the depth.
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) count += countMembers(member);
  return count;
}

// Equal values give equal text: the order of members, white space and the notation of numbers do not matter.
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
