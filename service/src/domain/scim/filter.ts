import { Failure, type ScimType } from "../failure.ts";

// Filters and paths of SCIM (RFC 7644, sections 3.4.2.2 and 3.5.2). Attribute names are kept in lower case, because SCIM compares
// them without regard to case.
export type AttributePath = { name: string; sub: string | null };

const operators = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type Operator = (typeof operators)[number];
export type Literal = string | number | boolean | null;

export type Filter =
  | { kind: "and" | "or"; parts: Filter[] }
  | { kind: "not"; part: Filter }
  | { kind: "present"; path: AttributePath }
  | { kind: "compare"; path: AttributePath; operator: Operator; value: Literal }
  // An entry of a list of objects matches, as in emails[type eq "work"].
  | { kind: "entry"; path: AttributePath; part: Filter };

// What a change is about: an attribute, perhaps only some entries of it, and perhaps one member of each.
export type TargetPath = AttributePath & { entries: Filter | null };

export const filterCharactersMax = 1_000;
const tokensMax = 200;
const depthMax = 16;

const tokenPattern = /\s+|[()[\]]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.?[A-Za-z$_][\w$.:-]*/y;
// Attributes of the core schemas may be written with their schema in front.
const corePrefix = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;

export function parseFilter(text: string): Filter {
  const reader = new Reader(text, "invalidFilter");
  const filter = reader.readAny(0);
  reader.requireEnd();
  return filter;
}

export function parsePath(text: string): TargetPath {
  const reader = new Reader(text, "invalidPath");
  const path = reader.readTarget();
  reader.requireEnd();
  return path;
}

class Reader {
  readonly #tokens: string[] = [];
  readonly #fault: ScimType;
  #at = 0;

  constructor(text: string, fault: ScimType) {
    this.#fault = fault;
    if (text.length > filterCharactersMax) throw this.#refusal(`is longer than ${filterCharactersMax} characters`);
    tokenPattern.lastIndex = 0;
    while (tokenPattern.lastIndex < text.length) {
      const start = tokenPattern.lastIndex;
      const [token] = tokenPattern.exec(text) ?? [];
      if (token === undefined) throw this.#refusal(`cannot be read at character ${start + 1}`);
      if (token.trim() !== "") this.#tokens.push(token);
      if (this.#tokens.length > tokensMax) throw this.#refusal(`has more than ${tokensMax} parts`);
    }
  }

  readAny(depth: number): Filter {
    if (depth > depthMax) throw this.#refusal(`is nested deeper than ${depthMax} levels`);
    return this.#readChain("or", () => this.#readChain("and", () => this.#readOne(depth)));
  }

  readTarget(): TargetPath {
    const path = this.#readPath();
    if (!this.#takes("[")) return { ...path, entries: null };
    if (path.sub !== null) throw this.#refusal("has a filter at a member that is not a list");
    const entries = this.readAny(1);
    this.#require("]");
    const next = this.#tokens[this.#at];
    if (next === undefined) return { ...path, entries };
    if (!/^\.[A-Za-z$_][\w$-]*$/.test(next)) throw this.#refusal("must end after the filter or after the name of one member");
    this.#at++;
    return { name: path.name, sub: next.slice(1).toLowerCase(), entries };
  }

  requireEnd(): void {
    if (this.#at < this.#tokens.length) throw this.#refusal("has more text after its end");
  }

  #readChain(kind: "and" | "or", readPart: () => Filter): Filter {
    const first = readPart();
    const parts = [first];
    while (this.#takes(kind)) parts.push(readPart());
    return parts.length === 1 ? first : { kind, parts };
  }

  #readOne(depth: number): Filter {
    if (this.#takes("(")) return this.#readUntil(")", depth);
    if (this.#tokens[this.#at]?.toLowerCase() === "not" && this.#tokens[this.#at + 1] === "(") {
      this.#at += 2;
      return { kind: "not", part: this.#readUntil(")", depth) };
    }
    const path = this.#readPath();
    if (this.#takes("[")) {
      const part = this.#readUntil("]", depth);
      const sub = this.#tokens[this.#at];
      // Microsoft Entra ID also compares a member of the entry: emails[type eq "work"].value eq "a@shop.example".
      if (sub === undefined || !sub.startsWith(".")) return { kind: "entry", path, part };
      this.#at++;
      const inner = this.#readComparison({ name: sub.slice(1).toLowerCase(), sub: null });
      return { kind: "entry", path, part: { kind: "and", parts: [part, inner] } };
    }
    return this.#readComparison(path);
  }

  #readUntil(end: string, depth: number): Filter {
    const filter = this.readAny(depth + 1);
    this.#require(end);
    return filter;
  }

  #readComparison(path: AttributePath): Filter {
    const word = (this.#next() ?? "").toLowerCase();
    if (word === "pr") return { kind: "present", path };
    const operator = operators.find((each) => each === word);
    if (!operator) throw this.#refusal("has an unknown operator");
    return { kind: "compare", path, operator, value: this.#readLiteral() };
  }

  #readLiteral(): Literal {
    const token = this.#next() ?? "";
    const word = token.toLowerCase();
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    if (/^-?\d/.test(token)) return Number(token);
    if (token.startsWith('"')) return this.#readText(token);
    throw this.#refusal("lacks a value after an operator");
  }

  #readText(token: string): string {
    try {
      return String(JSON.parse(token));
    } catch {
      throw this.#refusal("has a string with an invalid escape");
    }
  }

  #readPath(): AttributePath {
    const token = this.#next() ?? "";
    if (!/^[A-Za-z$_]/.test(token)) throw this.#refusal("lacks an attribute name");
    const bare = token.replace(corePrefix, "");
    // An attribute of another schema. Its name contains dots that separate nothing.
    if (bare.includes(":")) return { name: bare.toLowerCase(), sub: null };
    const [name = "", sub, ...more] = bare.toLowerCase().split(".");
    if (name === "" || sub === "" || more.length > 0) throw this.#refusal("names a member that cannot exist");
    return { name, sub: sub ?? null };
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++];
  }

  #takes(wanted: string): boolean {
    const isThere = this.#tokens[this.#at]?.toLowerCase() === wanted;
    if (isThere) this.#at++;
    return isThere;
  }

  #require(wanted: string): void {
    if (!this.#takes(wanted)) throw this.#refusal(`lacks a ${wanted}`);
  }

  #refusal(what: string): Failure {
    const noun = this.#fault === "invalidFilter" ? "filter" : "path";
    return new Failure("bad-request", `The ${noun} ${what}.`, { scimType: this.#fault });
  }
}
