import * as fc from "fast-check";
import type { Random } from "@casehound/simulator/random";
import type { Schema } from "./document.ts";

// Random values, drawn once with the run's seed, because drawing them one by one takes longer than sending them.
export class Pool {
  readonly values: unknown[];
  readonly texts: string[];
  readonly #random: Random;

  constructor(random: Random) {
    const options = { seed: random.word() | 0, numRuns: 2_000 };
    this.#random = random;
    this.values = fc.sample(fc.jsonValue({ maxDepth: 2 }), options);
    this.texts = fc.sample(fc.string({ unit: "grapheme", maxLength: 40 }), options);
  }

  value(isWanted: (value: unknown) => boolean): unknown[] {
    return this.#draw(this.values, isWanted);
  }

  text(isWanted: (text: string) => boolean): string[] {
    return this.#draw(this.texts, isWanted);
  }

  // Empty if a few tries find none.
  #draw<T>(from: T[], isWanted: (value: T) => boolean): T[] {
    for (let tries = 0; tries < 20; tries++) {
      const drawn = this.#random.pick(from);
      if (drawn !== undefined && isWanted(drawn)) return [drawn];
    }
    return [];
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  return kindOf(value) === type || (type === "number" && typeof value === "number");
}

const ofEveryKind: unknown[] = ["text", "", "true", "3", "null", 0, 1, -1, 1.5, true, false, null, [], {}, [true], { a: 1 }];

// Values that break this keyword of the schema and, if possible, no other. Empty if JSON has no such value.
export function wrongValues(keyword: string, schema: Schema, valid: unknown, pool: Pool): unknown[] {
  const rule = schema[keyword];
  switch (keyword) {
    case "type": {
      const isWrong = (value: unknown) => !isOfType(value, rule);
      return [...ofEveryKind.filter(isWrong), ...pool.value(isWrong)];
    }
    case "storable":
      return ["a\0b", "\ud800", "\udc00\ud800"];
    case "enum":
      return wrongOfEnum(rule as unknown[], pool);
    case "not":
      return fc.sample(fc.stringMatching(new RegExp((rule as { pattern: string }).pattern)), { seed: 1, numRuns: 8 });
    case "anyOf": {
      const isWrong = (value: unknown) => !(rule as Schema[]).some(({ type }) => isOfType(value, type));
      return [...ofEveryKind.filter(isWrong), ...pool.value(isWrong)];
    }
    case "minimum":
    case "maximum":
      return wrongNumbers(keyword, Number(rule), schema["type"]);
    case "minItems":
      return [(valid as unknown[]).slice(0, Number(rule) - 1)];
    case "maxItems":
      return [Array.from({ length: Number(rule) + 1 }, () => (valid as unknown[])[0])];
    case "uniqueItems":
      return [[(valid as unknown[])[0], (valid as unknown[])[0]]];
    case "maxProperties":
      return [Object.fromEntries(Array.from({ length: Number(rule) + 1 }, (_, index) => [`name_${index}`, index]))];
    default:
      return wrongTexts(keyword, schema, String(valid), pool);
  }
}

function wrongOfEnum(allowed: unknown[], pool: Pool): unknown[] {
  const near = allowed.flatMap((each) => [`${String(each)} `, String(each).toLowerCase(), String(each).toUpperCase(), [each]]);
  const isWrong = (value: unknown) => !allowed.includes(value);
  return [...near, ...ofEveryKind, "__proto__", "a\0"].filter(isWrong).concat(pool.value(isWrong));
}

function wrongNumbers(keyword: "minimum" | "maximum", bound: number, type: unknown): unknown[] {
  const direction = keyword === "minimum" ? -1 : 1;
  const beyond = type === "integer" ? bound + direction : bound + direction * 0.01;
  return [beyond === bound ? bound + direction : beyond, bound + direction, direction * 1e15, direction * 1e300].filter((value) =>
    keyword === "minimum" ? value < bound : value > bound,
  );
}

const formats: Record<string, string[]> = {
  date: ["today", "2026-02-30", "2026-1-1", "2026-11-15T09:30:00.000Z", "0000-01-01", " 2026-11-15"],
  "date-time": ["yesterday", "2026-02-30T00:00:00.000Z", "2026-11-15T09:30:00+01:00", "2026-11-15", "0000-01-01T00:00:00.000Z"],
  ip: ["1.2.3.256", "::g", "localhost", "1.2.3.4/8", "01.2.3.4"],
  uuid: ["7", "0190f1aa-0000-7000-8000", "g190f1aa-0000-7000-8000-000000000000"],
};

function wrongTexts(keyword: string, schema: Schema, valid: string, pool: Pool): string[] {
  const rule = schema[keyword];
  const bound = Number(rule);
  switch (keyword) {
    case "minLength":
      return bound === 0 ? [] : ["a".repeat(bound - 1)];
    case "maxLength":
      return [`${"a".repeat(bound + 1 - valid.length)}${valid}`, "a".repeat(bound + 1), "😀".repeat(bound + 1)];
    case "format":
      return formats[String(rule)] ?? [];
    case "pattern": {
      const pattern = new RegExp(String(rule), "u");
      const isWrong = (text: string) => !pattern.test(text) && text !== "" && text.isWellFormed();
      return ["\u0001", " ", "!!", ",", `${valid} `, `${valid}\n`, `\u200b${valid}`].filter(isWrong).concat(pool.text(isWrong));
    }
    default:
      return [];
  }
}
