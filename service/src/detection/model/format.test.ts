import { array, assert, double, property } from "fast-check";
import { expect, test } from "vitest";
import { labelledRows, modelOf, sampleOf, someTree } from "../../../test/labelled-rows.ts";
import { encodeModel, modelLimits, ModelFault, parseModel } from "./format.ts";
import type { Model, Tree } from "./trees.ts";

const tiny: Model = {
  prior: { a: -2.5, b: 1 },
  trained: { rows: 10, frauds: 3, seed: 1 },
  trees: [{ field: "0h", threshold: 3.5, missing: "left", left: { value: -0.1, cover: 7 }, right: { value: 0.25, cover: 3 } }],
};
const tinyText =
  '{"format":1,"prior":[-2.5,1],"trained":{"frauds":3,"rows":10,"seed":1},"trees":[["0h",3.5,"left",[-0.1,7],[0.25,3]]]}';

test("format: a model's text and id are pinned", () => {
  expect(encodeModel(tiny)).toEqual({ id: "e2aea08f115ed7276c8b4f99af6b6c5348e47c9e8f9add9cddddb81884865f4e", text: tinyText });
});

test("format: a model survives the round trip", () => {
  const finite = double({ min: -100, max: 100, noNaN: true }).map((value) => (value === 0 ? 0 : value));
  assert(
    property(array(someTree(4), { minLength: 1, maxLength: 3 }), finite, finite, (trees, a, b) => {
      const model: Model = { ...tiny, trees, prior: { a, b } };
      expect(parseModel(encodeModel(model).text)).toEqual(model);
    }),
  );
  const trained = modelOf(sampleOf(labelledRows(500)), { treesMax: 20 });
  expect(parseModel(encodeModel(trained).text)).toEqual(trained);
});

function deep(levels: number): string {
  return levels === 0 ? "[0,1]" : `["0h",1,"left",${deep(levels - 1)},[0,1]]`;
}

function wide(levels: number): string {
  return levels === 0 ? "[0,1]" : `["0h",1,"left",${wide(levels - 1)},${wide(levels - 1)}]`;
}

const withTree = (tree: string): string => tinyText.replace(/\[\[.*\]\]/, `[${tree}]`);

test.each([
  ["no JSON", "{", /not JSON/],
  ["nothing", "null", /JSON object/],
  ["an array", "[]", /JSON object/],
  ["another format", tinyText.replace('"format":1', '"format":2'), /format is not 1/],
  ["no trees", withTree(""), /1 to 1000 trees/],
  ["too many trees", withTree(Array.from({ length: modelLimits.trees + 1 }, () => "[0,1]").join()), /1 to 1000 trees/],
  ["trees that are no array", tinyText.replace(/\[\[.*\]\]/, "{}"), /not an array/],
  ["a tree that is too deep", withTree(deep(modelLimits.depth + 1)), /`trees\[0\]` is deeper than 12/],
  ["nesting without end", withTree("[".repeat(100_000) + "]".repeat(100_000)), /neither a split nor a leaf/],
  ["too many leaves", withTree(wide(7)), /more than 64 leaves/],
  ["a node of three", withTree("[1,2,3]"), /neither a split nor a leaf/],
  ["a node that is no array", withTree('["0h",1,"left",null,[0,1]]'), /not an array/],
  ["a field without a code", withTree('["0hh",1,"left",[0,1],[0,1]]'), /without a code/],
  ["a code of another alphabet", withTree('["0H",1,"left",[0,1],[0,1]]'), /without a code/],
  ["a field by its number", withTree('[7,1,"left",[0,1],[0,1]]'), /without a code/],
  ["a third side", withTree('["0h",1,"up",[0,1],[0,1]]'), /side for missing/],
  ["an infinite threshold", withTree('["0h",1e999,"left",[0,1],[0,1]]'), /number that is not allowed/],
  ["a threshold of text", withTree('["0h","1","left",[0,1],[0,1]]'), /number that is not allowed/],
  ["a huge leaf", withTree("[1001,1]"), /number that is not allowed/],
  ["a leaf without cover", withTree("[0,0]"), /without cover/],
  ["a prior of one number", tinyText.replace("[-2.5,1]", "[1]"), /two numbers/],
  ["half a row", tinyText.replace('"rows":10', '"rows":1.5'), /whole number/],
  ["a missing count", tinyText.replace('"rows":10,', ""), /not allowed/],
  ["another member", tinyText.replace('{"format"', '{"extra":1,"format"'), /canonical/],
  ["a key that appears twice", tinyText.replace('{"format"', '{"format":1,"format"'), /canonical/],
  ["white space", `${tinyText}\n`, /canonical/],
  ["another spelling of a number", tinyText.replace("3.5", "3.50"), /canonical/],
  ["a negative zero", withTree("[-0,1]"), /canonical/],
  ["too many characters", " ".repeat(modelLimits.characters + 1), /at most 4000000 characters/],
])("format: refuses %s", (_, text, message) => {
  expect(() => parseModel(text)).toThrow(ModelFault);
  expect(() => parseModel(text)).toThrow(message);
});

test("format: refuses a model that reads too many fields", () => {
  const trees = Array.from({ length: 257 }, (_, index): Tree => ({
    field: index.toString(36).padStart(2, "0"),
    threshold: 1,
    missing: "left",
    left: { value: 0, cover: 1 },
    right: { value: 0, cover: 1 },
  }));
  expect(() => parseModel(encodeModel({ ...tiny, trees }).text)).toThrow("at most 256 fields");
  expect(parseModel(encodeModel({ ...tiny, trees: trees.slice(1) }).text).trees).toHaveLength(256);
});

// Null if the text is refused.
function readAgain(text: string): string | null {
  try {
    return encodeModel(parseModel(text)).text;
  } catch (error) {
    if (error instanceof ModelFault) return null;
    throw error;
  }
}

test("format: a damaged text is refused or is another model, and never a crash", () => {
  const { text } = encodeModel(modelOf(sampleOf(labelledRows(300)), { treesMax: 2 }));
  for (let at = 0; at < text.length; at += 31) {
    expect(readAgain(text.slice(0, at))).toBeNull();
    const changed = `${text.slice(0, at)}7${text.slice(at + 1)}`;
    expect([null, changed]).toContain(readAgain(changed));
  }
});
