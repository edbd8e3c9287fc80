import * as fc from "fast-check";
import { expect, test } from "vitest";
import { browserSigns, isAgentOff, isLocaleOff, isSessionIdOff } from "./browser-signs.ts";
import { readEvent, type Delivery } from "./clickstream.ts";
import { readAttributes } from "./clickstream-attributes.ts";
import { characters, isStorable } from "./text.ts";
import { excerptOfEvent, excerptOfText, quarantineReasons } from "./quarantine.ts";

const received = Date.parse("2026-11-15T12:00:00.000Z");
const tenant = { tenant_id: "0d1b7f3e-0000-4000-8000-000000000001", slug: "acme", app_key: "abcdef", url_parameters: ["q"] };
const delivery: Delivery = {
  tenant,
  received_at: "2026-11-15T12:00:00.000Z",
  uploaded_ms: received,
  isHashWrong: false,
  checkIdentity: () => "bad-token",
  agent: {},
};

test("attributes: flat values are kept unchanged, and all others are left out", () => {
  const given = { a: "x", b: 1.5, c: false, d: null, e: { a: 1 }, f: [1], "": "x", g: "" };
  expect(readAttributes(given, undefined)).toEqual({ attributes: { a: "x", b: 1.5, c: false, g: "" }, isOversized: false });
});

test("attributes: __proto__ and constructor are ordinary names", () => {
  const { attributes } = readAttributes(JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, unknown>, undefined);
  expect(Object.entries(attributes)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype);
});

test("attributes: keeps 64, with names of 128 and texts of 1,024 characters; cuts the excess and reports it", () => {
  const names = Array.from({ length: 65 }, (_, index) => `a${index}`);
  const many = (count: number) => Object.fromEntries(names.slice(0, count).map((name) => [name, 1]));
  expect(readAttributes(many(64), undefined)).toEqual({ attributes: many(64), isOversized: false });
  expect(readAttributes(many(65), undefined)).toEqual({ attributes: many(64), isOversized: true });
  const [name, text] = ["😀".repeat(128), "😀".repeat(1024)];
  expect(readAttributes({ [name]: text }, undefined)).toEqual({ attributes: { [name]: text }, isOversized: false });
  expect(readAttributes({ [`${name}x`]: 1, a: `${text}x` }, undefined)).toEqual({
    attributes: { [name]: 1, a: text },
    isOversized: true,
  });
  expect(readAttributes({ a: 2 ** 53, b: -Infinity, c: 2 ** 53 - 1 }, undefined)).toEqual({
    attributes: { c: 2 ** 53 - 1 },
    isOversized: true,
  });
});

function summary(items: unknown) {
  return readAttributes({}, items).attributes;
}

test("attributes: items are summarized by their number and value", () => {
  expect(summary([{ price: 99.5, quantity: 2 }, { price: 0.1 }, { price: "1" }, null, 7])).toEqual({
    _items_count: 5,
    _items_value: 199.1,
  });
  expect(summary([{ price: 1e308, quantity: 1e308 }])).toEqual({ _items_count: 1 });
  for (const none of [undefined, null, [], {}, "x"]) expect(summary(none)).toEqual({});
});

test.each<[string, number | undefined, boolean]>([
  ["a13e16e2-20261115-004554475", Date.UTC(2026, 10, 15, 0, 45, 54, 475), false],
  ["a13e16e2-20261115-004554475", Date.UTC(2026, 10, 15, 0, 45, 59, 475), false],
  ["a13e16e2-20261115-004554475", Date.UTC(2026, 10, 15, 0, 45, 59, 476), true],
  ["a13e16e2-20261115-004554475", Date.UTC(2026, 10, 14, 0, 45, 54, 475), true],
  ["a13e16e2-20261115-004554475", undefined, false],
  ["a13e16e2-20261115", undefined, true],
  ["7f6c1a0e-5f43-4f5c-9d53-6a5a3c1f4a11", undefined, true],
  ["", undefined, true],
])("signs: session id %s with start %s is a sign: %s", (id, start, isOff) => {
  expect(isSessionIdOff(id, start)).toBe(isOff);
});

test.each<[string, string, boolean]>([
  ["en-US", "en-US,en;q=0.9", false],
  ["en-US", "en-GB", false],
  ["de", "en-US,de;q=0.5", false],
  ["de-DE", "en-US,en;q=0.9", true],
  ["de-DE", "*", false],
  ["iw", "he-IL,he", false],
  ["EN_us", "en", false],
])("signs: locale %s with Accept-Language %s is a sign: %s", (locale, accepted, isOff) => {
  expect(isLocaleOff(locale, accepted)).toBe(isOff);
});

const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
const brands = '"Not:A-Brand";v="8", "Chromium";v="156"';

test.each<[string, { user_agent?: string; brands?: string; platform?: string }, boolean]>([
  ["that match the user agent are fine", { user_agent: windows, brands, platform: '"Windows"' }, false],
  ["that Firefox does not send are fine", { user_agent: firefox }, false],
  ["and user agent may both be absent", {}, false],
  ["with another version are a sign", { user_agent: windows, brands: brands.replace("156", "120") }, true],
  ["with another platform are a sign", { user_agent: windows, brands, platform: '"macOS"' }, true],
  ["from Firefox are a sign", { user_agent: firefox, brands }, true],
  ["without a user agent are a sign", { brands }, true],
  ["with an unknown platform are fine", { user_agent: windows, brands, platform: '"constructor"' }, false],
])("signs: client hints %s", (_name, agent, isOff) => {
  expect(isAgentOff(agent)).toBe(isOff);
});

test("excerpts: at most 500 characters, storable, without users and without queries", () => {
  const event = {
    user: { _user_id: { value: "user-42" } },
    attributes: { _page_url: "https://shop.example/a?token=secret#x", a: "b\0\ud800" },
  };
  expect(excerptOfEvent(event)).toBe('{"attributes":{"a":"b\\u0000\\ud800","_page_url":"https://shop.example/a"}}');
  expect(excerptOfText('[{"u":"http://shop.example/?token=secret"},\0')).toBe('[{"u":"http://shop.example/"},\ufffd');
  expect(characters(excerptOfText("😀".repeat(5000)))).toBe(500);
});

const deep = () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  return value;
};

test("clickstream: a very deeply nested event is read and shown without a stack overflow", () => {
  const raw = {
    event_id: "1",
    event_type: "x",
    timestamp: received,
    user: deep(),
    items: [deep()],
    attributes: { a: deep(), tenant_id: deep() },
  };
  expect(readEvent(raw, delivery)).toMatchObject({ activity_id: "1", attributes: { _items_count: 1 } });
  expect(excerptOfEvent({ ...raw, more: deep() })).toContain("[[...]]");
});

const member = fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.constant("x\0\ud800"), fc.jsonValue(), fc.anything());
const anyEvent = fc.record(
  {
    event_id: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 70 }), member),
    event_type: fc.oneof(fc.string({ unit: "binary" }), member),
    timestamp: fc.oneof(fc.integer({ min: received - 1e10, max: received + 1e10 }), member),
    device_id: member,
    locale: member,
    zone_offset: member,
    screen_width: member,
    screen_height: member,
    user: fc.oneof(fc.record({ _user_id: fc.record({ value: member }) }), member),
    items: member,
    attributes: fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), member), member),
  },
  { requiredKeys: [] },
);

test("clickstream: any input becomes one storable canonical event or one of the known reasons", () => {
  fc.assert(
    fc.property(fc.oneof(anyEvent, fc.anything()), fc.option(fc.integer(), { nil: undefined }), (raw, uploaded) => {
      const activity = readEvent(raw, { ...delivery, ...(uploaded !== undefined && { uploaded_ms: uploaded }) });
      if (typeof activity === "string") return quarantineReasons.includes(activity);
      const text = JSON.stringify(activity);
      expect(isStorable(text)).toBe(true);
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      expect(activity.type).toMatch(/^([a-z_]+|custom:[A-Za-z0-9_.-]{1,64})$/);
      expect(Date.parse(activity.occurred_at)).toBeLessThanOrEqual(received);
      for (const sign of activity.browser?.signs ?? []) expect(browserSigns).toContain(sign);
      return true;
    }),
    { numRuns: 2000 },
  );
});
