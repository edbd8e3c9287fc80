import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fields, zeroOf, type FeatureValue, type Features, type Field } from "./catalogue.ts";
import { contextOf, findPlace, packed, sparse, unpack, valueIn } from "./vector.ts";

const stored = fields.filter(({ type }) => type !== "map");

// Every field, either with its zero or with another value.
const features = fc.record(
  Object.fromEntries(stored.map((field) => [field.name, fc.oneof(fc.constant(zeroOf(field)), valueOf(field))])),
);
const attributes = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()));

function valueOf({ type }: Field): fc.Arbitrary<FeatureValue> {
  if (type === "string") return fc.string();
  // JSON, and therefore the store, has neither infinity nor -0.
  return type === "boolean" ? fc.boolean() : fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
}

function withoutZeros(given: Features): Features {
  const zeros: Features = Object.fromEntries(stored.map((field) => [field.name, zeroOf(field)]));
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== zeros[name]));
}

test("contextOf: without features, every field of the catalogue has its zero", () => {
  const context = new Map<string, unknown>(Object.entries(contextOf({}, { plan: "trial" })));
  for (const field of fields) {
    const [group = "", key = ""] = field.name.split(".");
    const value = field.type === "map" ? { plan: "trial" } : zeroOf(field);
    expect(context.get(group), field.name).toHaveProperty([key], value);
  }
});

test("contextOf: contexts of different events share no state", () => {
  const first = contextOf({ "device.accounts_1h": 5, "account.is_known": true }, {});
  expect(first.device).toMatchObject({ accounts_1h: 5, accounts_24h: 0 });
  expect(contextOf({}, {}).device).toMatchObject({ accounts_1h: 0 });
});

test("contextOf: ignores names that the catalogue does not have, and touches no prototype", () => {
  const odd: Features = JSON.parse(
    `{"__proto__": 1, "device.__proto__": 2, "device.gone": 3, "toString": 4, "event.attributes": 5, "ip.logins_1h": 6}`,
  );
  const context = contextOf(odd, {});
  expect(sparse(context)).toEqual({ "ip.logins_1h": 6 });
  expect(context.event.attributes).toEqual({});
  expect(Object.getPrototypeOf(context.device)).toBe(Object.prototype);
});

test("sparse: returns the features that are not zero, and no attributes", () => {
  fc.assert(
    fc.property(features, attributes, (features, attributes) => {
      expect(sparse(contextOf(features, attributes))).toEqual(withoutZeros(features));
    }),
  );
});

test("sparse: its result restores the same context, even after JSON", () => {
  fc.assert(
    fc.property(features, attributes, (features, attributes) => {
      const context = contextOf(features, attributes);
      const stored: Features = JSON.parse(JSON.stringify(sparse(context)));
      expect(contextOf(stored, attributes)).toEqual(context);
    }),
  );
});

test("packed: restores the same context", () => {
  fc.assert(
    fc.property(features, attributes, (features, attributes) => {
      const context = contextOf(features, attributes);
      const text = packed(context);
      expect(JSON.parse(`"${text}"`)).toBe(text);
      expect(contextOf(unpack(text), attributes)).toEqual(context);
      expect(unpack(text)).toEqual(sparse(context));
      const names = Object.keys(context.account).flatMap((name) => findPlace(`account.${name}`) ?? []);
      expect(names.map((place) => valueIn(text, place))).toEqual(names.map(({ key }) => context.account[key]));
    }),
  );
});

test("packed: fields are stored by their codes", () => {
  const text = packed(
    contextOf({ "event.type": "x", "account.is_known": true, "device.is_known": true, "session.is_known": true }, {}),
  );
  expect(text).toBe("0b131v,00x");
});
