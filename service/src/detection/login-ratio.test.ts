import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addCount, newAccountFacts, type AccountFacts, type LoginValues } from "./entity.ts";
import { loginRatio, valueKinds, type LoginShares, type ValueKind } from "./login-ratio.ts";

const nothing: LoginValues = { country: "", asn: "", ip: "", os: "", browser: "", agent: "", device: "" };
const home: LoginValues = { country: "DE", asn: "1", ip: "i1", os: "Windows", browser: "Chrome", agent: "a1", device: "d1" };

function historyOf(logins: LoginValues[]): AccountFacts {
  const facts = newAccountFacts(0);
  for (const login of logins) {
    facts.logins++;
    for (const kind of valueKinds) if (login[kind] !== "") addCount(facts.seen[kind], login[kind]);
  }
  return facts;
}

const often = (login: LoginValues, times: number) => Array.from({ length: times }, () => login);

// How many of everybody's 1,000 log-ins had the value.
function everybody(of: Partial<Record<ValueKind, Record<string, number>>> = {}): LoginShares {
  return { total: 1000, of: (kind, value) => of[kind]?.[value] ?? 0 };
}

function partsOf(logins: LoginValues[], login: LoginValues, shares = everybody()): Record<string, number> {
  return Object.fromEntries(loginRatio(historyOf(logins), login, shares).parts);
}

test("login ratio: below 4 log-ins it is 0 and reports how many there were", () => {
  const strange = { ...home, device: "d2", country: "NG" };
  expect(loginRatio(historyOf(often(home, 3)), strange, everybody())).toEqual({ total: 0, history: 3, parts: [] });
  expect(loginRatio(historyOf(often(home, 4)), strange, everybody())).toMatchObject({ history: 4, total: expect.any(Number) });
  expect(loginRatio(historyOf(often(home, 4)), strange, everybody()).parts).not.toEqual([]);
});

test("login ratio: a new device, country or system adds the logarithm of one more than the history's length", () => {
  for (const kind of ["device", "country", "os"] as const) {
    const before = { ...nothing, [kind]: "usual" };
    const now = { ...nothing, [kind]: "new" };
    for (const [history, part] of [
      [4, 1.61],
      [9, 2.3],
      [19, 3],
    ] as const) {
      expect(partsOf(often(before, history), now)).toEqual({ [kind]: part });
    }
  }
});

test("login ratio: each part is between -3 and 3, and at least -1 for a value that a stranger can choose", () => {
  expect(partsOf(often({ ...nothing, device: "d1" }, 500), { ...nothing, device: "d2" })).toEqual({ device: 3 });
  expect(partsOf(often({ ...nothing, device: "d1" }, 500), { ...nothing, device: "d1" })).toEqual({ device: -3 });
  for (const kind of ["country", "os"] as const) {
    const rare = { ...nothing, [kind]: "rare" };
    expect(partsOf(often(rare, 500), rare)[kind]).toBe(-1);
  }
});

test("login ratio: the owner's habits lower it, and habits that everybody has lower it only a little", () => {
  const browsers = everybody({ os: { Windows: 600, Plan9: 2 }, browser: { Chrome: 540, Mothra: 1 } });
  const common = { ...nothing, os: "Windows", browser: "Chrome" };
  const rare = { ...nothing, os: "Plan9", browser: "Mothra" };
  // ln(0.6 / ((10 + 0.6) / 11)) and ln(0.9 / ((10 + 0.9) / 11)).
  expect(partsOf(often(common, 10), common, browsers)).toEqual({ os: -0.47, browser: -0.1 });
  expect(partsOf(often(rare, 10), rare, browsers)["os"]).toBe(-1);
});

test("login ratio: a new value counts less for an account that has had many", () => {
  const each = (devices: number) => Array.from({ length: 8 }, (_, index) => ({ ...nothing, device: `d${index % devices}` }));
  const now = { ...nothing, device: "new" };
  // 8 log-ins with 1, 2, 4 and 8 devices: the logarithms of 9, 10 / 2, 12 / 4 and 16 / 8.
  expect([1, 2, 4, 8].map((devices) => partsOf(each(devices), now)["device"])).toEqual([2.2, 1.61, 1.1, 0.69]);
});

test("login ratio: a log-in without a device is unusual for an account whose log-ins had one, and never counts as usual", () => {
  const [named, unnamed] = [
    { ...nothing, os: "Windows", device: "d1" },
    { ...nothing, os: "Windows" },
  ];
  const parts = [often(named, 40), [...often(named, 20), ...often(unnamed, 20)], often(unnamed, 40)].map(
    (logins) => partsOf(logins, unnamed)["device"] ?? 0,
  );
  expect(parts).toEqual([3, 0, 0]);
});

test("login ratio: each value is judged given its parent, so a new network in a new country adds nothing", () => {
  const abroad = { ...nothing, country: "NG", asn: "2", ip: "i2" };
  const before = often({ ...nothing, country: "DE", asn: "1", ip: "i1" }, 9);
  expect(partsOf(before, abroad)).toEqual({ country: 2.3 });
  expect(Object.keys(partsOf(before, { ...nothing, country: "DE", asn: "2", ip: "i2" }))).toEqual(["country", "asn"]);
  expect(partsOf(before, { ...nothing, country: "DE", asn: "2", ip: "i2" })["asn"]).toBe(2.3);
});

test("login ratio: a new machine counts once, by its system, and not again by browser, agent and device", () => {
  const before = often({ ...nothing, os: "Windows", browser: "Chrome", agent: "a1", device: "d1" }, 9);
  const machine = { ...nothing, os: "macOS", browser: "Safari", agent: "a2", device: "d2" };
  expect(partsOf(before, machine)).toEqual({ os: 2.3 });
  const known = partsOf(before, { ...nothing, os: "Windows", browser: "Chrome", agent: "a1", device: "d2" });
  expect(known["device"]).toBe(2.3);
});

test("login ratio: a known device, country or browser makes it lower than a new one", () => {
  const before = often(home, 12);
  const total = (login: LoginValues) => loginRatio(historyOf(before), login, everybody({ country: { DE: 900, NG: 5 } })).total;
  const known = total(home);
  expect(known).toBeLessThan(0);
  for (const change of [{ device: "d2" }, { country: "NG" }, { browser: "Firefox" }]) {
    expect(total({ ...home, ...change })).toBeGreaterThan(known + 1);
  }
});

test("login ratio: a kind of value that the account's log-ins never had is not new when a tenant starts to send it", () => {
  const before = often({ ...nothing, os: "Windows" }, 30);
  expect(partsOf(before, { ...nothing, os: "Windows", device: "d1", country: "DE" })).not.toHaveProperty("device");
  expect(partsOf(before, { ...nothing, os: "Windows", device: "d1", country: "DE" })).not.toHaveProperty("country");
});

test("login ratio: for any history, its parts are numbers and sum to the total", () => {
  const value = fc.constantFrom("", "x", "y", "z", "constructor", "__proto__", "1", "toString");
  const login = fc.record({ country: value, asn: value, ip: value, os: value, browser: value, agent: value, device: value });
  const share = fc.nat(1000);
  const property = fc.property(fc.array(login, { maxLength: 40 }), login, share, share, (logins, now, total, of) => {
    const ratio = loginRatio(historyOf(logins), now, { total: Math.max(total, of), of: () => of });
    expect(ratio.history).toBe(logins.length);
    const parts = ratio.parts.map(([, part]) => part);
    expect(parts.every((part) => part >= -3 && part <= 3)).toBe(true);
    expect(ratio.total).toBeCloseTo(
      parts.reduce((sum, part) => sum + part, 0),
      8,
    );
  });
  fc.assert(property, { numRuns: 500 });
});
