import { expect, test } from "vitest";
import { SmallWorld, type Deed } from "../../test/small-world.ts";

const day = 24 * 60;
const owner = { website_account_id: "owner", device_id: "laptop", country: "DE", asn: 64_500, ip: "192.0.2.1" };
// A new phone, in a network where the owner never logged in.
const phone = { ...owner, device_id: "phone", asn: 64_510, ip: "203.0.113.1" };
const thief = { website_account_id: "owner", device_id: "strange", country: "NG", asn: 64_501, ip: "198.51.100.1" };
const login = (minute: number, more: Partial<Deed>): Deed => ({ minute, type: "login_succeeded", ...more });
const change = (minute: number, more: Partial<Deed>): Deed => ({ minute, type: "password_changed", ...more });
const now = 20 * day;

// An account with 19 log-ins on its laptop at home.
function world(): SmallWorld {
  const made = new SmallWorld();
  for (let index = 0; index < 19; index++) made.see(login(index * day, owner));
  return made;
}

function ratioOf(made: SmallWorld, deed: Deed): number {
  return made.see(deed).ratio?.total ?? 0;
}

test("held log-ins: a thief's second log-in, in a new session, is as unusual as the first", () => {
  const made = world();
  const first = ratioOf(made, login(now, { ...thief, session_id: "s1" }));
  const second = ratioOf(made, login(now + 5, { ...thief, session_id: "s2" }));
  const changed = made.see(change(now + 6, { ...thief, session_id: "s2" }));
  expect(first).toBeGreaterThan(4);
  expect([second, changed.ratio?.total]).toEqual([first, first]);
  expect(changed.context.session).toMatchObject({ began_on_new_device: true, began_in_new_country: true });
});

test("held log-ins: the unusual log-in counts for a later change in a new session, without a session, or without a device", () => {
  const { device_id: _device, ...noDevice } = thief;
  for (const source of [{ ...thief, session_id: "s2" }, thief, { ...noDevice, session_id: "s2" }, noDevice]) {
    const made = world();
    const first = ratioOf(made, login(now, { ...thief, session_id: "s1" }));
    const changed = made.see(change(now + 5, source));
    expect(changed.ratio?.total).toBe(first);
    expect(changed.context.session).toMatchObject({ began_on_new_device: true, began_in_new_country: true });
  }
});

test("held log-ins: a log-in to another account in the same session does not replace the ratio", () => {
  const made = world();
  const own = { ...thief, website_account_id: "mallory" };
  for (let index = 0; index < 6; index++) made.see(login(index * day, own));
  const first = ratioOf(made, login(now, { ...thief, session_id: "s1" }));
  expect(ratioOf(made, login(now + 1, { ...own, session_id: "s1" }))).toBeLessThan(0);
  expect(ratioOf(made, change(now + 2, { ...thief, session_id: "s1" }))).toBe(first);
  expect(ratioOf(made, change(now + 2, { ...own, session_id: "s1" }))).toBeLessThan(0);
});

test("held log-ins: a page that invents sessions, or backdates its events, does not make its device usual", () => {
  const made = new SmallWorld();
  const page = { origin: "browser" as const };
  for (let index = 0; index < 19; index++) made.see(login(index * day, { ...owner, ...page, session_id: `own-${index}` }));
  const received_at = new Date(Date.UTC(2026, 4, 1) + now * 60_000).toISOString();
  const ratios = Array.from({ length: 12 }, (_, index) =>
    ratioOf(made, login(now - 2 * day + index, { ...thief, ...page, received_at, session_id: `invented-${index}` })),
  );
  const last = ratioOf(made, login(now + 1, { ...thief, ...page, session_id: "s1" }));
  expect(new Set([...ratios, last]).size).toBe(1);
  expect(last).toBeGreaterThan(4);
});

test("dormant accounts: a page that backdates its log-in does not make the account look active", () => {
  const made = new SmallWorld();
  const page = { ...owner, origin: "browser" as const };
  for (let index = 0; index < 19; index++) made.see(login(index * day, { ...page, session_id: `own-${index}` }));
  const received_at = new Date(Date.UTC(2026, 4, 1) + 218 * day * 60_000).toISOString();
  const { context } = made.see(login(18 * day + 60, { ...page, received_at, session_id: "late" }));
  expect(context.account["days_since_last_login"]).toBe(200);
});

test("held log-ins: many unusual log-ins do not push out the most unusual one", () => {
  const made = world();
  const first = ratioOf(made, login(now, thief));
  for (let index = 0; index < 10; index++) made.see(login(now + 1 + index, { ...phone, device_id: `other-${index}` }));
  expect(ratioOf(made, change(now + 20, { website_account_id: "owner" }))).toBe(first);
});

test("held log-ins: an owner with a new phone is never more unusual than at its first log-in, whatever network it uses", () => {
  const made = world();
  const first = ratioOf(made, login(now, phone));
  expect(first).toBeGreaterThanOrEqual(1);
  const others = [
    phone,
    { ...phone, ip: "203.0.113.2" },
    { ...phone, ip: "203.0.113.3", asn: 64_511 },
    { ...phone, country: "FR" },
  ];
  const later = others.map((source, index) => ratioOf(made, login(now + 60 * (index + 1), source)));
  expect(later).toEqual([first, first, first, first]);
  expect(ratioOf(made, login(now + 300, { ...owner, device_id: "phone" }))).toBeLessThan(1);
});

test("held log-ins: the owner's usual device is not affected while another log-in is held", () => {
  const made = world();
  const usual = ratioOf(made, login(now, { ...owner, session_id: "s1" }));
  made.see(login(now + 1, thief));
  expect(ratioOf(made, change(now + 2, { ...owner, session_id: "s1" }))).toBe(usual);
  expect(ratioOf(made, change(now + 2, { ...owner, session_id: "s2" }))).toBe(0);
  expect(ratioOf(made, login(now + 3, owner))).toBeLessThan(0);
  expect(ratioOf(made, change(now - 1, { website_account_id: "owner" }))).toBe(0);
});

test("held log-ins: a device becomes usual after a day for each unit of log-odds, however often it logs in meanwhile", () => {
  const held = Math.floor(ratioOf(world(), login(now, phone)) * day);
  expect(held).toBeGreaterThan(2 * day);
  for (const [minutes, isNew] of [
    [held - 1, true],
    [held + 1, undefined],
  ] as const) {
    const made = world();
    for (let index = 0; index < 20; index++) made.see(login(now + index * 60, phone));
    const vector = made.seeAll([login(now + minutes, phone)]);
    expect(vector["account.device_is_new"]).toBe(isNew);
    expect(vector["account.logins"]).toBe(isNew === true ? 19 : 20);
  }
});

test("held log-ins: no log-in is held for more than a week", () => {
  const { device_id: _device, ...strange } = { ...thief, os: "Linux", browser: "Firefox" };
  const made = new SmallWorld();
  for (let index = 0; index < 19; index++) made.see(login(index * day, { ...owner, os: "macOS", browser: "Safari" }));
  const first = ratioOf(made, login(now, strange));
  expect(first).toBeGreaterThan(7);
  expect(ratioOf(made, login(now + 7 * day - 1, strange))).toBe(first);
  expect(ratioOf(made, login(now + 7 * day, strange))).toBeLessThan(first - 3);
});

test("held log-ins: a fraud that is reported or confirmed after a thief became usual makes the thief as unusual as at first", () => {
  const report: Deed = { minute: now + 11 * day, type: "fraud_report", website_account_id: "owner" };
  for (const [between, known, isForgotten] of [
    [[], {}, false],
    [[report], {}, true],
    [[], { confirmed: 1 }, true],
  ] as const) {
    const made = world();
    const first = ratioOf(made, login(now, thief));
    expect(ratioOf(made, login(now + 8 * day, thief))).toBeLessThan(0);
    for (const deed of between) made.see(deed);
    const again = ratioOf(made, { ...login(now + 12 * day, thief), known });
    expect([again > first - 0.5, again < 0]).toEqual([isForgotten, !isForgotten]);
    expect(ratioOf(made, { ...login(now + 12 * day + 1, owner), known })).toBeLessThan(0);
  }
});

test("held log-ins: a report, a confirmed fraud or a flag keeps the device new", () => {
  const report: Deed = { minute: now + 1, type: "fraud_report", website_account_id: "owner" };
  for (const [between, known, isNew] of [
    [[report], {}, true],
    [[], { confirmed: 1 }, true],
    [[], { is_blocked: true }, true],
    [[], {}, undefined],
  ] as const) {
    const made = world();
    const vector = made.seeAll([login(now, phone), ...between, { ...login(now + 7 * day, phone), known }]);
    expect(vector["account.device_is_new"]).toBe(isNew);
  }
});

test("held log-ins: a false positive makes a device usual at once if the case was about its log-in, and not otherwise", () => {
  for (const [device, isNew] of [
    ["phone", undefined],
    ["laptop", true],
  ] as const) {
    const made = world();
    made.see(login(now, phone));
    made.suspect("owner", { ...change(now + 1, phone), device_id: device });
    const vector = made.seeAll([{ ...login(now + 10, phone), known: { falsePositives: 1 } }]);
    expect(vector["account.device_is_new"]).toBe(isNew);
  }
});

test("held log-ins: a log-in that led to a case is held for 30 days", () => {
  for (const [days, isNew] of [
    [29, true],
    [30, undefined],
  ] as const) {
    const made = world();
    made.see(login(now, phone));
    made.suspect("owner", change(now + 1, phone));
    expect(made.seeAll([login(now + days * day, phone)])["account.device_is_new"]).toBe(isNew);
  }
});

test("shared log-ins: 400 log-ins of one account in a day move the ratios of others as little as one does", () => {
  // A value that few others have is evidence for the owner. So a thief in the owner's country and network would gain if the
  // thief's own account logged in elsewhere many times.
  const nearby = { ...owner, device_id: "strange", ip: "192.0.2.9" };
  const ratioAfter = (names: string[]) => {
    const made = world();
    for (const [index, website_account_id] of names.entries())
      made.see(login(now - 500 + index, { ...thief, website_account_id }));
    return ratioOf(made, login(now, nearby));
  };
  const one = Array.from({ length: 400 }, () => "mallory");
  const many = one.map((name, index) => `${name}-${index}`);
  expect(ratioAfter(one)).toBe(ratioAfter(["mallory"]));
  expect(ratioAfter(many)).toBeLessThan(ratioAfter(one));
});
