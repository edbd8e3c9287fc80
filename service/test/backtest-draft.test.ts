import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fields, type Features } from "../src/detection/catalogue.ts";
import { compileRule } from "../src/detection/compile.ts";
import { Tally, type Hit } from "../src/detection/backtest.ts";
import { compileDraft } from "../src/detection/draft.ts";
import { contextOf, findPlace, unpack, type Attributes } from "../src/detection/vector.ts";
import { decisionText } from "./decided.ts";

const names = fields.flatMap((field) => {
  const code = findPlace(field.name)?.code;
  return code === undefined ? [] : [{ ...field, code }];
});

// Texts that look like parts of a stored decision, which a naive search would mistake for one.
const treacherous = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(...names.map(({ code }) => `"${code}":7,`), ...names.map(({ code }) => `","${code}":"x`), '\\"', "a,b}", "\n"),
);

const feature = fc.constantFrom(...names).chain(({ name, type }) => {
  const number = fc.oneof(fc.integer({ min: -5, max: 70 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const value: fc.Arbitrary<string | number | boolean> =
    type === "number" ? number : type === "string" ? treacherous : fc.boolean();
  return fc.tuple(fc.constant(name), value);
});

const decision = fc.record({ l: fc.double({ noNaN: true, noDefaultInfinity: true }), f: fc.array(feature, { maxLength: 12 }) });
const attributes = fc.dictionary(
  fc.constantFrom("amount", "plan", "__proto__", "x"),
  fc.oneof(treacherous, fc.integer(), fc.boolean()),
);

const expressions = [
  "device.accounts_1h >= 8",
  "device.accounts_1h >= 8 || ip.accounts_1h < 1",
  `event.type == "signup" || event.country != ""`,
  `event.browser.contains("x") || event.os.size() > 3 || event.country.contains("7")`,
  "account.is_known && !device.is_known",
  "session.gap_spread < 1 || account.minutes_since_sensitive_change < 60",
  "account.travel_kmh > 0.5 && account.value_ratio <= 10.25",
  `event.attributes.amount > 5 || event.attributes.plan == "x"`,
  `has(event.attributes.amount) && session.pages >= 1`,
];

test("draft: evaluating the stored text gives the same result as the rule on the parsed features, for any values", () => {
  for (const expression of expressions) {
    const draft = compileDraft(expression);
    const rule = compileRule(expression);
    fc.assert(
      fc.property(decision, attributes, ({ l, f }, given) => {
        const features: Features = Object.fromEntries(f);
        const text = decisionText({ v: 1, l, r: { rule: 1 }, c: [["login.country", 1]], f: features });
        const document = JSON.stringify({ user_agent: '"amount":9', attributes: given });
        // Parse it as the store does: `__proto__` is a name like any other.
        const stored = (JSON.parse(document) as { attributes: Attributes }).attributes;
        const wanted = rule.test(contextOf(unpack((JSON.parse(text) as { f: string }).f), stored));
        expect(draft.test(text, document)).toBe(wanted);
      }),
      { numRuns: 300 },
    );
  }
});

test("draft: one decision leaves no state for the next", () => {
  const draft = compileDraft(`device.accounts_1h >= 8 || event.attributes.plan == "x"`);
  const none = "{}";
  const code = findPlace("device.accounts_1h")?.code ?? "";
  expect(draft.test(`{"f":",${code}9"}`, none)).toBe(true);
  expect(draft.test("{}", none)).toBe(false);
  expect(draft.test("{}", '{"attributes":{"plan":"x"}}')).toBe(true);
  expect(draft.test("{}", none)).toBe(false);
  expect(draft.test(`{"v":1,"f":"0b,03DE,${code}9"}`, none)).toBe(true);
});

function hit(index: number, more: Partial<Hit> = {}): Hit {
  const at = `2026-11-01T00:00:${String(59 - index).padStart(2, "0")}.000Z`;
  const key = { received_at: at, id_key: String(index) };
  const decision = JSON.stringify({ r: { first: 1, ...(index % 2 === 0 && { second: 3 }) }, s: { third: 1 } });
  return {
    key,
    day: "2026-11-01",
    occurred_at: at,
    score: 1,
    decision,
    subject: `account:${index}`,
    website_account_id: null,
    ...more,
  };
}

const noOutcomes = { confirmed: 3, false_positives: 1, inconclusive: 9 };

test("tally: days without hits are listed, oldest first; overlap counts enabled rules; a score of 3 counts as already caught", () => {
  const tally = new Tally(["2026-11-02", "2026-11-01", "2026-10-31"]);
  tally.addDecisions("2026-11-02", 5);
  tally.addDecisions("2026-11-01", 7);
  tally.addDecisions("2026-11-01", 2);
  [2, 3, 5, 1].forEach((score, index) => tally.addHit(hit(index, { score, website_account_id: `a-${index % 3}` })));
  expect(tally.result(noOutcomes)).toEqual({
    decisions: 14,
    hits: 4,
    hits_per_day: [
      { day: "2026-10-31", hits: 0, decisions: 0 },
      { day: "2026-11-01", hits: 4, decisions: 9 },
      { day: "2026-11-02", hits: 0, decisions: 5 },
    ],
    accounts: 3,
    overlap: [
      { rule_id: "first", hits: 4 },
      { rule_id: "second", hits: 2 },
    ],
    caught_already: 0.5,
    precision: { ...noOutcomes, precision: 0.75 },
    examples: [0, 1, 2, 3].map((index) => hit(index).key),
  });
  expect(new Tally([]).result(noOutcomes)).toMatchObject({ hits: 0, caught_already: null });
});

test("tally: keeps ten examples of different subjects, and the first hit time of every subject", () => {
  const tally = new Tally(["2026-11-01"]);
  for (let index = 0; index < 40; index++) tally.addHit(hit(index, { subject: `account:${Math.floor(index / 2)}` }));
  tally.addHit(hit(40, { subject: "account:0", occurred_at: "2026-10-01T00:00:00.000Z" }));
  const { examples } = tally.result(noOutcomes);
  expect(examples.map((each) => each.id_key)).toEqual(Array.from({ length: 10 }, (_, index) => String(2 * index)));
  expect(tally.subjects.size).toBe(20);
  expect(tally.subjects.get("account:0")).toBe("2026-10-01T00:00:00.000Z");
  expect(tally.subjects.get("account:1")).toBe(hit(3).occurred_at);
});
