import { characters } from "./text.ts";
import { identityAttribute } from "./identity.ts";
import { isObject, storableText } from "./raw-value.ts";

export type Attributes = Record<string, string | number | boolean>;

const attributesMax = 64;
const nameCharacters = 128;
const valueCharacters = 1024;
const itemsMax = 100;

// Presets that have a field of their own in the canonical event.
const placed = new Set([
  "_session_id",
  "_session_start_timestamp",
  "_page_title",
  "_page_url",
  "_latest_referrer",
  "_page_referrer",
  "_engagement_time_msec",
  "_casehound_inputs",
  "_casehound_input_spread",
  "_casehound_webdriver",
  // The token is verified and then dropped.
  identityAttribute,
]);

// Presets that repeat what the session or the previous event says. They are a quarter of an event's bytes.
const repeated = new Set([
  "_session_duration",
  "_session_number",
  "_previous_timestamp",
  "_page_referrer_title",
  "_latest_referrer_host",
  "_entrances",
  "_is_first_time",
]);

const elsewhere = new Set([...placed, ...repeated, ""]);

// Attributes are flat: objects and lists, which the SDK does not support either, are left out. What exceeds a limit is cut, and
// `isOversized` is set.
export function readAttributes(given: Record<string, unknown>, items: unknown): { attributes: Attributes; isOversized: boolean } {
  const kept: [string, string | number | boolean][] = Object.entries(summariseItems(items));
  let isOversized = false;
  for (const name of Object.keys(given)) {
    if (elsewhere.has(name)) continue;
    const value = given[name];
    if (!isScalar(value)) continue;
    if (kept.length === attributesMax || isUnsafe(value)) {
      isOversized = true;
      continue;
    }
    const isLong = isLonger(name, nameCharacters) || (typeof value === "string" && isLonger(value, valueCharacters));
    isOversized ||= isLong;
    const cut = typeof value === "string" ? storableText(value, valueCharacters) : value;
    kept.push([storableText(name, nameCharacters), cut]);
  }
  // Not built by assignment, so that a member called __proto__ is an ordinary one.
  return { attributes: Object.fromEntries(kept), isOversized };
}

// A character has one or two UTF-16 units, so most texts need not be counted.
function isLonger(text: string, max: number): boolean {
  return text.length > max && characters(text) > max;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

// A number that would be read back as another number, or not as a number at all.
function isUnsafe(value: string | number | boolean): boolean {
  return typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

function summariseItems(items: unknown): Attributes {
  if (!Array.isArray(items) || items.length === 0) return {};
  const first: unknown[] = items.slice(0, itemsMax);
  const total = first.reduce((sum: number, item) => sum + valueOf(item), 0);
  const value = Math.round(total * 100) / 100;
  return { _items_count: items.length, ...(!isUnsafe(value) && { _items_value: value }) };
}

function valueOf(item: unknown): number {
  if (!isObject(item)) return 0;
  const { price, quantity = 1 } = item;
  return typeof price === "number" && typeof quantity === "number" ? price * quantity : 0;
}
