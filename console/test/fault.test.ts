import { expect, test } from "vitest";
import { expressionFaults } from "../../service/src/api/rules.ts";
import { faultOf, lineAndColumn } from "../src/screens/detection/fault.ts";

// The part of the text that the service's message marks.
function markedIn(text: string): string | null {
  const place = faultOf(expressionFaults({ expression: text }), "expression", text)?.place;
  return place ? text.slice(place.start, place.end) : null;
}

function faultFor(message: string, text: string) {
  return faultOf([{ field: "expression", message }], "expression", text);
}

test.each([
  ["device.accounts_1h >= 8 && cats > 1", "cats"],
  ["device.accounts_1h >= 8\n  && cats.many > 1", "cats.many"],
  ["device.accounts_1h >= 8 && \n", ""],
  ['event.type == "💥" && cats', "cats"],
])("fault: the service's message for %j marks %j", (text, word) => {
  expect(markedIn(text)).toBe(word);
});

test("fault: valid text, and an error in another field, mark nothing", () => {
  expect(markedIn("device.accounts_1h >= 8")).toBeNull();
  expect(faultOf([{ field: "sentence", message: "Wrong (line 1, column 1)." }], "expression", "a")).toBeNull();
});

test("fault: message, position and hint are separated, even if the message quotes a position", () => {
  expect(faultFor('There is no "(line 9, column 9)." here (line 2, column 3). Try another.', "a\nb cat d")).toEqual({
    message: 'There is no "(line 9, column 9)." here.',
    hint: "Try another.",
    place: { start: 4, end: 7 },
  });
});

test.each([
  "must be a string",
  "",
  "Wrong (line 1).",
  "Wrong (line one, column two).",
  "Wrong (line 0, column 1).",
  "Wrong (line 1, column 0).",
  "Wrong (line 3, column 1).",
  "Wrong (line 1, column 5).",
  "Wrong (line 99999999999999999999, column 1).",
])("fault: %j names no position in the text, is shown whole and marks nothing", (message) => {
  expect(faultFor(message, "abc\nd")).toEqual({ message, hint: "", place: null });
});

test("fault: the position after the last character is the end of the text", () => {
  const fault = faultFor("Something is missing (line 2, column 2).", "abc\nd");
  expect(fault?.place).toEqual({ start: 5, end: 5 });
  expect(lineAndColumn("abc\nd", 5)).toEqual({ line: 2, column: 2 });
});
