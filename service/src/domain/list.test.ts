import { expect, test } from "vitest";
import { keyOf, listFaults, type ListType } from "./list.ts";

const good: [ListType, string, string][] = [
  ["account", "Ann", "Ann"],
  ["device", "d-1", "d-1"],
  ["ip", "203.0.113.7", "203.0.113.7"],
  ["ip", "2001:DB8::1", "2001:db8:0:0:0:0:0:1"],
  ["ip", "2001:db8::/32", "2001:db8:0:0:0:0:0:0/32"],
  ["ip", "203.0.113.7/32", "203.0.113.7"],
  ["ip", "::ffff:203.0.113.7", "203.0.113.7"],
  ["ip", "h-0123456789abcdef01234567", "h-0123456789abcdef01234567"],
  ["country", "DE", "DE"],
  ["asn", "64500", "64500"],
  ["email", "Ann.Lee@Example.COM", "ann.lee@example.com"],
  ["email_domain", "Mail.Example", "mail.example"],
  ["email_domain", "bücher.example", "bücher.example"],
  ["payee", "shop 7", "shop 7"],
  ["instrument", "fp_1", "fp_1"],
  ["instrument", "42424242 4242", "42424242 4242"],
  ["user_agent", "HeadlessChrome", "headlesschrome"],
  ["text", " as it is ", " as it is "],
];

test.each(good)("keyOf: %s takes %s", (type, value, key) => {
  expect(keyOf(type, value)).toEqual({ key });
});

const bad: [ListType, string][] = [
  ["account", "UNKNOWN"],
  ["account", ""],
  ["device", "d".repeat(129)],
  ["ip", "203.0.113.7/24"],
  ["ip", "203.0.113"],
  ["ip", "example.com"],
  ["ip", "0.0.0.0/0"],
  ["ip", "10.0.0.0/7"],
  ["ip", "::/0"],
  ["ip", "2000::/3"],
  ["ip", "203.0.113.07"],
  ["ip", " 203.0.113.7"],
  ["ip", "fe80::1%eth0"],
  ["country", "de"],
  ["country", "DEU"],
  ["asn", "AS64500"],
  ["asn", "0"],
  ["asn", "4294967296"],
  ["email", "example.com"],
  ["email", "a b@example.com"],
  ["email", "a@b"],
  ["email_domain", "com"],
  ["email_domain", "@example.com"],
  ["email_domain", "*.example.com"],
  ["email_domain", ".example.com"],
  ["email_domain", "example..com"],
  ["instrument", "4242424242424242"],
  ["instrument", "4242 4242 4242 4242"],
  ["user_agent", "Moz"],
  ["text", "a\0b"],
  ["text", "x".repeat(513)],
];

test.each(bad)("keyOf: %s refuses %j", (type, value) => {
  expect(keyOf(type, value)).toHaveProperty("problem");
});

test("listFaults: refuses allow lists of user agents, texts of any kind but custom, and words of the rule language", () => {
  expect(listFaults({ name: "a", type: "user_agent", kind: "allow" })).toMatchObject([{ field: "kind" }]);
  expect(listFaults({ name: "a", type: "user_agent", kind: "block" })).toEqual([]);
  for (const kind of ["allow", "block", "watch"])
    expect(listFaults({ name: "a", type: "text", kind })).toMatchObject([{ field: "kind" }]);
  expect(listFaults({ name: "in", type: "ip", kind: "watch" })).toMatchObject([{ field: "name" }]);
});
