import { expect, test } from "vitest";
import { blockOf, hostOf, siteOf } from "./address.ts";

test.each([
  ["203.0.113.9", "203.0.113.9", "203.0.113.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:0db8:0001:0002::6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["::1", "0:0:0:0::/64", "0:0:0::/48"],
])("hostOf, blockOf: %s", (ip, host, block) => {
  expect([hostOf(ip), blockOf(ip)]).toEqual([host, block]);
  expect(siteOf(ip)).toBe(ip.includes(":") ? block : ip);
});

test.each(["203.0.113.0/24", "2001:db8:1::/48", "h-0123456789abcdef01234567"])(
  "hostOf, siteOf: an address reduced by a policy stays unchanged: %s",
  (kept) => {
    expect([hostOf(kept), siteOf(kept)]).toEqual([kept, kept]);
  },
);
