import { describe, expect, test } from "vitest";
import { ConfigFault, readConfig } from "../src/config.ts";
import { Site, browserEvent, useCollector } from "./site.ts";

const trusting = (TRUSTED_PROXIES: string) => ({ trustedProxies: readConfig({ TRUSTED_PROXIES }).trustedProxies });

// Returns the stored address of an event sent with this X-Forwarded-For header.
async function addressOf(site: Site, forwarded: string | null): Promise<string | undefined> {
  const event = browserEvent();
  await site.post([event], forwarded === null ? {} : { headers: { "x-forwarded-for": forwarded } });
  return (await site.stored()).find((each) => each.activity_id === event.event_id)?.ip;
}

describe("proxies on this machine are trusted", () => {
  const service = useCollector();

  test.each([
    [null, "127.0.0.1"],
    ["", "127.0.0.1"],
    ["203.0.113.7", "203.0.113.7"],
    ["198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["198.51.100.1, 203.0.113.7, 127.0.0.1,::1", "203.0.113.7"],
    ["127.0.0.2, 127.0.0.3", "127.0.0.2"],
    ["203.0.113.7, not-an-address", "127.0.0.1"],
    ["unknown", "127.0.0.1"],
    ["203.0.113.7:4711", "203.0.113.7"],
    ["2001:DB8:0::1", "2001:db8::1"],
    ["[2001:db8::1]:4711", "2001:db8::1"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    [`203.0.113.7${", 127.0.0.1".repeat(100)}`, "127.0.0.1"],
  ])("X-Forwarded-For %j: the address is %s", async (forwarded, address) => {
    expect(await addressOf(await Site.create(service.current), forwarded)).toBe(address);
  });
});

describe("no proxy is trusted", () => {
  const service = useCollector(trusting("none"));

  test("X-Forwarded-For is not read", async () => {
    expect(await addressOf(await Site.create(service.current), "203.0.113.7")).toBe("127.0.0.1");
  });
});

describe("named proxies are trusted", () => {
  const service = useCollector(trusting(" 127.0.0.1 , 10.0.0.0/8,2001:db8::/32"));

  test.each([
    ["203.0.113.7, 10.1.2.3, 2001:db8:1::1", "203.0.113.7"],
    ["203.0.113.7, 11.1.2.3", "11.1.2.3"],
    ["203.0.113.7, 127.0.0.2", "127.0.0.2"],
    ["203.0.113.7, ::ffff:10.1.2.3", "203.0.113.7"],
  ])("X-Forwarded-For %j: the address is %s", async (forwarded, address) => {
    expect(await addressOf(await Site.create(service.current), forwarded)).toBe(address);
  });
});

test.each([
  "x",
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "::/129",
  "10.0.0.1,",
  "10.0.0",
  "fe80::1%eth0",
  "all",
  "10.0.0.1 10.0.0.2",
  "10.0.0.1,\nnone",
])("config: TRUSTED_PROXIES %j is a one-line error that names it", (TRUSTED_PROXIES) => {
  const read = () => readConfig({ TRUSTED_PROXIES });
  expect(read).toThrow(ConfigFault);
  expect(read).toThrow(/^TRUSTED_PROXIES .*$/);
});

test("config: ROLES accepts the collector, and the default is all roles", () => {
  expect([...readConfig({}).roles]).toEqual(["api", "collector", "engine"]);
  expect([...readConfig({ ROLES: "collector" }).roles]).toEqual(["collector"]);
});
