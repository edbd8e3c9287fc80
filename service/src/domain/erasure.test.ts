import { expect, test } from "vitest";
import { withoutId } from "./erasure.ts";

const erase = (id: string, text: string) => withoutId(text, { id, pseudonym: "erased" });

test("erasure: erasing an account whose id is a word of our sentences leaves the sentences unchanged", () => {
  const sentence = "Log-ins to 5 accounts failed on one device within an hour.";
  for (const word of ["accounts", "Log", "device", "hour", "5"]) expect(erase(word, sentence)).toBe(sentence);
  expect(erase("accounts", 'The account "accounts" is one of 5 accounts.')).toBe('The account "erased" is one of 5 accounts.');
});

test("erasure: a quoted word or number is found inside JSON too", () => {
  const text = JSON.stringify({ note: 'by "maria" and "42"', who: "maria" });
  expect(erase("42", erase("maria", text))).toBe(JSON.stringify({ note: 'by "erased" and "erased"', who: "erased" }));
});

test("erasure: other ids are found without quotes", () => {
  expect(erase("kim-7", "The owner of kim-7 called.")).toBe("The owner of erased called.");
  expect(erase("customer.1@shop", "session-of-customer.1@shop")).toBe("session-of-erased");
});
