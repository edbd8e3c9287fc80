import { expect, test } from "vitest";
import { Stage, type Step } from "./stage.ts";

const day = 24 * 60;

function failures(count: number, make: (index: number) => Omit<Step, "type">): Step[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "login_failed",
    website_account_id: `user-${index}`,
    ...make(index),
  }));
}

const onDevice = (index: number) => ({ minute: index * 14, device_id: "kiosk" });
const fromAddress = (index: number) => ({ minute: index * 1.25, ip: "192.0.2.7", device_id: `fresh-${index}` });
const fromNetwork = (index: number) => ({ minute: index * 3, ip: `203.0.113.${index % 3}` });
const slowly = (index: number) => ({ minute: index * 470, website_account_id: "victim" });

const ownAccount = { website_account_id: "mallory" };

// Puts the attacker's own log-ins or failures, from the same source, before every step.
function padded(steps: Step[], type: string, times: number): Step[] {
  return steps.flatMap((step) => [
    ...Array.from({ length: times }, (_, index): Step => ({
      ...step,
      ...ownAccount,
      type,
      minute: step.minute - (index + 1) / 1000,
    })),
    step,
  ]);
}

test.each([
  ["stuffing_device", failures(5, onDevice)],
  ["stuffing_address", failures(8, fromAddress)],
  ["password_spraying", failures(20, fromNetwork)],
] as const)("rule %s: the attacker's own log-ins and failures in between do not hide the attack", async (rule, tries) => {
  for (const type of ["login_succeeded", "login_failed"]) {
    for (const times of [1, 20]) {
      const last = await (await Stage.open()).playLast(padded(tries, type, times));
      expect(last.rules, `${times} ${type}`).toContain(rule);
    }
  }
});

// Log-ins of six people on their devices, on the days before the attack.
const people = Array.from({ length: 6 }, (_, index) => ({
  website_account_id: `person-${index}`,
  device_id: `laptop-${index}`,
  ip: "192.0.2.7",
}));
const days = people.flatMap((person) =>
  Array.from({ length: 6 }, (_, index): Step => ({ minute: -(index + 1) * day, type: "login_succeeded", ...person })),
);
const after = (more: (index: number) => Partial<Step>) =>
  people.map((person, index): Step => ({ minute: 11 + index / 10, type: "login_succeeded", ...person, ...more(index) }));

test("rule stuffing_address: people who log in as usual at the attacked address are not accused, even with a new phone", async () => {
  const stage = await Stage.open();
  const attack = failures(24, (index) => ({ minute: index * 0.3, ip: "192.0.2.7" }));
  await stage.play([...days, ...attack]);
  const played = await stage.play([...after(() => ({})), ...after((index) => ({ device_id: `phone-${index}` }))]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  expect((await stage.cases()).map(({ subject }) => subject)).toEqual(["ip:192.0.2.7"]);
});

const loginAt = (minute: number, index: number, device: string | undefined): Step => ({
  minute: minute + index / 100,
  type: "login_succeeded",
  website_account_id: `person-${index}`,
  ip: "192.0.2.7",
  ...(device !== undefined && { device_id: `${device}-${index}` }),
});

test.each([
  ["without device ids", undefined, undefined],
  ["with a second device", "laptop", "phone"],
])(
  "rule stuffing_address: customers with three log-ins at the attacked address are not accused, %s",
  async (_, first, second) => {
    const stage = await Stage.open();
    const before = people.flatMap((_person, index) => [3, 2, 1].map((ago) => loginAt(-ago * day, index, first)));
    await stage.play([...before, ...failures(40, (index) => ({ minute: index * 0.2, ip: "192.0.2.7" }))]);
    const played = await stage.play(people.map((_person, index) => loginAt(8.5, index, second)));
    expect(played.flatMap(({ rules }) => rules)).toEqual([]);
    // A stranger's log-in there still opens a case, also in an account with a short history.
    const elsewhere = [3, 2, 1].map((ago) => ({ ...loginAt(-ago * day, 9, first), ip: "198.51.100.20" }));
    const last = await stage.playLast([...elsewhere, loginAt(9, 9, second)]);
    expect(last.rules).toEqual(["stuffing_address"]);
    expect((await stage.cases()).map(({ subject }) => subject)).toEqual(["ip:192.0.2.7", "account:person-9"]);
  },
);

// Before every try, one of the attacker's own accounts logs in.
function behindOwnAccounts(tries: Step[], own: number): Step[] {
  return tries.flatMap((step, index): Step[] => [
    { ...step, website_account_id: `mallory-${index % own}`, type: "login_succeeded", minute: step.minute - 0.01 },
    step,
  ]);
}

test.each([
  ["stuffing_address", "ip:192.0.2.7", (index: number) => ({ minute: index / 20, ip: "192.0.2.7", device_id: `fresh-${index}` })],
  [
    "password_spraying",
    "network:2001:db8:66::/48",
    (index: number) => ({ minute: index / 20, ip: `2001:db8:66:${index.toString(16)}::1` }),
  ],
] as const)("rule %s: as many log-ins of 16 to 40 own accounts as tries do not hide the attack", async (rule, subject, from) => {
  for (const own of [16, 24, 40]) {
    const stage = await Stage.open();
    await stage.play(behindOwnAccounts(failures(120, from), own));
    const cases = await stage.cases();
    expect(
      cases.map((each) => each.subject).filter((each) => each === subject),
      `${rule}, ${own} own accounts`,
    ).toHaveLength(1);
  }
});

test("stuffing: a busy office, carrier or network where a quarter of all people mistype their password is not an attack", async () => {
  for (const ip of [() => "192.0.2.7", (index: number) => `192.0.2.${index % 7}`]) {
    const stage = await Stage.open();
    const morning = Array.from({ length: 400 }, (_, index): Step[] => {
      const person = { website_account_id: `person-${index}`, device_id: `laptop-${index}`, ip: ip(index) };
      const minute = index / 20;
      const login: Step = { minute: minute + 0.1, type: "login_succeeded", ...person };
      return index % 4 === 0 ? [{ minute, type: "login_failed", ...person }, login] : [login];
    });
    const played = await stage.play(morning.flat());
    expect(Math.max(...played.map(({ features }) => Number(features["ip.failed_accounts_1h"] ?? 0)))).toBeLessThan(16);
    expect(Math.max(...played.map(({ features }) => Number(features["network.failed_accounts_1h"] ?? 0)))).toBeLessThan(16);
    expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  }
});

test("rule stuffing_address: a log-in there that is unlike the account's earlier ones opens a case for its account", async () => {
  const stage = await Stage.open();
  const elsewhere = days.map((step) => ({ ...step, ip: "198.51.100.20" }));
  await stage.play([...elsewhere, ...failures(24, (index) => ({ minute: index * 0.3, ip: "192.0.2.7" }))]);
  const last = await stage.playLast(after(() => ({ device_id: "strange" })).slice(0, 1));
  expect(last.rules).toContain("stuffing_address");
  expect((await stage.cases()).map(({ subject }) => subject)).toEqual(["ip:192.0.2.7", "account:person-0"]);
});

test("rule password_spraying: people of the attacked network who log in from their usual address are not accused", async () => {
  const stage = await Stage.open();
  const attack = failures(66, (index) => ({ minute: index / 10, ip: `192.0.2.${100 + (index % 12)}` }));
  await stage.play([...days, ...attack]);
  const played = await stage.play(after((index) => ({ device_id: `phone-${index}` })));
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
});

test("rule stuffing_slow: the networks of one IPv6 block count as one address, and four blocks as four", async () => {
  for (const [address, rules] of [
    [(index: number) => `2001:db8:66:${index + 1}::9`, []],
    [(index: number) => `2001:db8:${index + 1}:1::9`, ["stuffing_slow"]],
  ] as const) {
    const last = await (await Stage.open()).playLast(failures(4, (index) => ({ ...slowly(index), ip: address(index) })));
    expect(last.rules).toEqual(rules);
  }
});

test("rule password_spraying: four tries on each of many accounts from one IPv6 block open one case for the block", async () => {
  const stage = await Stage.open();
  const tries = Array.from({ length: 4 }, (_, round) =>
    failures(30, (index) => ({ minute: round * 5 + index / 10, ip: `2001:db8:66:${(round + 1 + index * 4).toString(16)}::9` })),
  );
  await stage.play(tries.flat());
  expect((await stage.cases()).map(({ subject }) => subject)).toEqual(["network:2001:db8:66::/48"]);
});

test("rule stuffing_slow: four wrong passwords on each of many accounts from four IPv6 blocks open cases for blocks and one for the campaign, and none for an account", async () => {
  const stage = await Stage.open();
  const victims = 40;
  const owners = Array.from({ length: victims }, (_, index): Step => ({
    minute: -day,
    type: "login_succeeded",
    website_account_id: `user-${index}`,
    device_id: `laptop-${index}`,
    ip: `198.51.100.${index}`,
  }));
  const tries = failures(4 * victims, (index) => ({
    minute: index / 10,
    website_account_id: `user-${index % victims}`,
    device_id: `fresh-${index}`,
    ip: `2001:db8:${Math.floor(index / victims) + 1}:${(index % victims).toString(16)}::1`,
  }));
  const played = await stage.play([...owners, ...tries]);
  expect(played.at(-1)?.rules.toSorted()).toEqual(["password_spraying", "stuffing_slow"]);
  const subjects = (await stage.cases()).map(({ subject }) => subject).toSorted();
  expect(subjects.slice(1)).toEqual([1, 2, 3, 4].map((block) => `network:2001:db8:${block}::/48`));
  expect(subjects[0]).toContain("campaign:stuffing_slow:");
});

test("rule stuffing_slow: four wrong passwords do not accuse the owner, whatever device logs in at a known address", async () => {
  const stage = await Stage.open();
  const home = { website_account_id: "victim", ip: "198.51.100.20" };
  const login = (minute: number): Step => ({ minute, type: "login_succeeded", ...home, device_id: "laptop" });
  const guesses = failures(4, (index) => ({ minute: index, website_account_id: "victim", ip: `203.0.${index}.1` }));
  await stage.play([login(-2 * day), login(-day), ...guesses]);
  const played = await stage.play([login(5), { ...login(6), device_id: "phone" }]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  expect((await stage.cases()).map(({ subject }) => subject.split(":")[0])).toEqual(["campaign"]);
});

test("stuffing: an attack from one address with a new device for every five tries opens a case for the address, not for each device", async () => {
  const stage = await Stage.open();
  const many = failures(200, (index) => ({
    minute: index / 60,
    website_account_id: `user-${index % 40}`,
    ip: "192.0.2.7",
    device_id: `cookie-${Math.floor(index / 5)}`,
  }));
  await stage.play(many);
  // At first, the first device is all of the attack.
  const subjects = (await stage.cases()).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(["device:cookie-0", "ip:192.0.2.7"]);
});
