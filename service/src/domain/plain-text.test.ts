import { expect, test } from "vitest";
import { plainText } from "./plain-text.ts";

test.each([
  ["https://evil.example/a.b", "https[:]//evil[.]example/a[.]b"],
  ["http://203.0.113.7/x", "http[:]//203.0.113.7/x"],
  ["www.evil.com", "www[.]evil[.]com"],
  ["see evil.com now", "see evil[.]com now"],
  ["evil.xn--p1ai", "evil[.]xn--p1ai"],
  ["evil。com", "evil[。]com"],
  ["ada@shop.example/evil.com", "ada@shop[.]example/evil[.]com"],
  ["www.evil.com@shop.example", "www[.]evil[.]com@shop[.]example"],
])("plain text: %s does not become a link", (text, dull) => {
  expect(plainText(text)).toBe(dull);
});

test.each(["ada.lovelace@shop.example", "account 12.50", "1.2.3", "A case. And another", "…"])(
  "plain text: %s stays as it is",
  (text) => {
    expect(plainText(text)).toBe(text);
  },
);

test("plain text: a long text is cut without a broken link or character", () => {
  expect(plainText("x".repeat(99) + ".com")).toBe(`${"x".repeat(99)}[…`);
  expect(plainText("😀".repeat(200))).toBe(`${"😀".repeat(100)}…`);
});
