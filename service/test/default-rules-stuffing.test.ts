import { expect, test } from "vitest";
import { shownValues, Stage, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;

function failures(count: number, make: (index: number) => Omit<Step, "type">): Step[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "login_failed",
    website_account_id: `user-${index}`,
    ...make(index),
  }));
}

const onDevice = (index: number) => ({ minute: index * 14, device_id: "kiosk" });

test("rule stuffing_device: the fifth account that fails on one device within an hour opens a Bot case for the device", async () => {
  const stage = await Stage.open();
  const played = await stage.play(failures(5, onDevice));
  expect(played.map(({ rules }) => rules)).toEqual([[], [], [], [], ["stuffing_device"]]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "device:kiosk",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      recommended_action: "MONITOR",
      summary: "Log-ins to 5 accounts failed on one device within an hour.",
    },
  });
  expect(shownValues(found, "stuffing_device")).toEqual({ "device.failed_accounts_1h": 5 });
});

test("rule stuffing_device: a log-in that succeeds on such a device opens a case for its account", async () => {
  const stage = await Stage.open();
  await stage.play(failures(5, onDevice));
  const last = await stage.playLast([{ minute: 57, type: "login_succeeded", website_account_id: "user-9", device_id: "kiosk" }]);
  expect(last.rules).toEqual(["stuffing_device"]);
  const cases = await stage.cases();
  expect(cases.map(({ subject, website_account_id: account }) => [subject, account])).toEqual([
    ["device:kiosk", "UNKNOWN"],
    ["account:user-9", "user-9"],
  ]);
});

test("rule stuffing_device: four accounts are not enough, however often they fail", async () => {
  const stage = await Stage.open();
  const again = failures(4, (index) => ({ minute: 50 + index, device_id: "kiosk" }));
  const last = await stage.playLast([...failures(4, onDevice), ...again]);
  expect(last.features).toMatchObject({ "device.failed_accounts_1h": 4, "device.failed_logins_1h": 8 });
  expect(last.rules).toEqual([]);
  expect(await stage.cases()).toEqual([]);
});

test("rule stuffing_device: a fifth account exactly an hour after the first is not enough", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast(failures(5, (index) => ({ minute: index * 15, device_id: "kiosk" })));
  expect(last.features["device.failed_accounts_1h"]).toBe(4);
  expect(last.rules).toEqual([]);
});

const logins = (count: number, every: number) =>
  failures(count, (index) => ({ minute: index * every, device_id: "kiosk" })).map((step): Step => ({
    ...step,
    type: "login_succeeded",
  }));

test("rule accounts_device: the eighth account that logs in on one device within an hour opens a Bot case for that account", async () => {
  const stage = await Stage.open();
  const played = await stage.play(logins(8, 8.5));
  expect(played.flatMap(({ rules }, index) => (rules.length === 0 ? [] : [[index, ...rules]]))).toEqual([[7, "accounts_device"]]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:user-7",
    website_account_id: "user-7",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      recommended_action: "MONITOR",
      summary: "8 accounts were used or tried on one device within an hour.",
    },
  });
  expect(shownValues(found, "accounts_device")).toEqual({ "device.accounts_1h": 8 });
});

test("rule accounts_device: seven accounts, an eighth account an hour after the first, or page views of eight accounts are not enough", async () => {
  const late = await Stage.open();
  const last = await late.playLast([
    ...logins(7, 8),
    { ...onDevice(0), minute: 60, type: "login_succeeded", website_account_id: "user-7" },
  ]);
  expect(last).toMatchObject({ rules: [], features: { "device.accounts_1h": 7 } });
  const stage = await Stage.open();
  const pages = await stage.playLast(logins(8, 8).map((step): Step => ({ ...step, type: "page_view" })));
  expect(pages).toMatchObject({ rules: [], features: { "device.accounts_1h": 8 } });
});

const fromAddress = (index: number) => ({ minute: index * 1.25, ip: "192.0.2.7", device_id: `fresh-${index}` });

test("rule stuffing_address: the eighth account that fails from one address within 10 minutes opens a Bot case for the address", async () => {
  const stage = await Stage.open();
  const played = await stage.play(failures(8, fromAddress));
  expect(played.flatMap(({ rules }, index) => (rules.length === 0 ? [] : [[index, ...rules]]))).toEqual([
    [7, "stuffing_address"],
  ]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "ip:192.0.2.7",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      summary:
        "Log-ins to 8 accounts failed from one address within 10 minutes. Accounts that logged in from it within the hour: 0.",
    },
  });
  expect(shownValues(found, "stuffing_address")).toEqual({
    "ip.failed_accounts_10m": 8,
    "ip.failed_accounts_1h": 8,
    "ip.login_accounts_1h": 0,
    "account.device_is_new": false,
    "device.is_known": true,
    "login.ratio": 0,
    "login.history": 0,
    "account.ip_is_known": false,
  });
});

test("rule stuffing_address: seven accounts are not enough, nor is an eighth exactly 10 minutes after the first", async () => {
  const stage = await Stage.open();
  const seven = await stage.playLast(failures(7, fromAddress));
  expect(seven.features["ip.failed_accounts_10m"]).toBe(7);
  const late = await stage.playLast([{ minute: 10, type: "login_failed", website_account_id: "user-7", ip: "192.0.2.7" }]);
  expect(late.features["ip.failed_accounts_10m"]).toBe(7);
  expect([...seven.rules, ...late.rules]).toEqual([]);
});

test("rule stuffing_address: an office where every third log-in succeeds is not an attack, but if fewer succeed, it is", async () => {
  for (const [count, rules] of [
    [4, []],
    [3, ["stuffing_address"]],
  ] as const) {
    const stage = await Stage.open();
    const colleagues = Array.from({ length: count }, (_, minute): Step => {
      return { minute, type: "login_succeeded", website_account_id: `colleague-${minute}`, ip: "192.0.2.7" };
    });
    const last = await stage.playLast([...colleagues, ...failures(8, fromAddress)]);
    expect(last.features).toMatchObject({
      "ip.failed_accounts_10m": 8,
      "ip.failed_accounts_1h": 8,
      "ip.login_accounts_1h": count,
    });
    expect(last.rules).toEqual(rules);
  }
});

test("rule stuffing_address: page views by the same browsers in between do not hide the attack", async () => {
  const stage = await Stage.open();
  const tries = failures(8, fromAddress).flatMap((step): Step[] => {
    const pages = Array.from({ length: 12 }, (_, page): Step => ({
      ...fromAddress(step.minute / 1.25),
      minute: step.minute - (page + 1) / 100,
      type: "page_view",
      origin: "browser",
    }));
    return [...pages, step];
  });
  expect((await stage.playLast(tries)).rules).toEqual(["stuffing_address"]);
});

const slowly = (index: number) => ({ minute: index * 470, website_account_id: "victim", ip: `198.51.${index}.1` });

test("rule stuffing_slow: failures from a fourth address within a day open a Bot case for the campaign", async () => {
  const stage = await Stage.open();
  const played = await stage.play(failures(4, slowly));
  expect(played.map(({ rules }) => rules)).toEqual([[], [], [], ["stuffing_slow"]]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: `campaign:stuffing_slow:${stage.at(3 * 470).slice(0, 16)}Z`,
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      summary: "Log-ins to one account failed from 4 addresses within a day.",
    },
  });
  expect(shownValues(found, "stuffing_slow")).toMatchObject({ "account.failed_ips_24h": 4, "device.is_known": false });
});

test("rule stuffing_slow: three addresses are not enough, nor is a fourth exactly a day after the first", async () => {
  const stage = await Stage.open();
  const again = failures(3, (index) => ({ ...slowly(index), minute: 941 + index }));
  const three = await stage.playLast([...failures(3, slowly), ...again.slice(1)]);
  const fourth = await stage.playLast(failures(1, () => ({ ...slowly(3), minute: day })));
  expect([three, fourth].map(({ rules, features }) => [rules, features["account.failed_ips_24h"]])).toEqual([
    [[], 3],
    [[], 3],
  ]);
});

test("rule stuffing_slow: failures on a device that the account logs in on are not enough, but on another one they are", async () => {
  for (const [device_id, rules] of [
    ["own-phone", []],
    ["another", ["stuffing_slow"]],
  ] as const) {
    const stage = await Stage.open();
    const login: Step = { minute: 0, type: "login_succeeded", website_account_id: "victim", device_id: "own-phone" };
    const last = await stage.playLast([login, ...failures(4, (index) => ({ ...slowly(index), device_id }))]);
    expect(last).toMatchObject({ rules, features: { "account.failed_ips_24h": 4 } });
  }
});

test("rule stuffing_slow: the owner's usual log-in while somebody guesses is not an attack, but an unusual one is", async () => {
  const home = {
    website_account_id: "victim",
    user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0",
  };
  const usual = Array.from({ length: 6 }, (_, index): Step => ({ minute: -10 * day + index, type: "login_succeeded", ...home }));
  for (const [user_agent, rules] of [
    [home.user_agent, []],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0", ["stuffing_slow"]],
  ] as const) {
    const stage = await Stage.open();
    const login: Step = { minute: 1411, type: "login_succeeded", ...home, user_agent };
    const last = await stage.playLast([...usual, ...failures(4, slowly), login]);
    expect(last).toMatchObject({ rules, features: { "account.failed_ips_24h": 4 } });
  }
});

// Tries the accounts three minutes apart, rotating through the addresses of one network.
function sprayed(count: number, { addresses = 3, tries = 1 } = {}): Step[] {
  return Array.from({ length: tries }, () =>
    failures(count, (index) => ({ minute: index * 3, ip: `203.0.113.${index % addresses}` })),
  )
    .flat()
    .toSorted((a, b) => a.minute - b.minute);
}

test("rule password_spraying: tries on 20 accounts from 3 addresses of one network open a Bot case for the network", async () => {
  const stage = await Stage.open();
  const played = await stage.play(sprayed(20));
  expect(played.flatMap(({ rules }, index) => (rules.length === 0 ? [] : [[index, ...rules]]))).toEqual([
    [19, "password_spraying"],
  ]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "network:203.0.113.0/24",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      summary: "Log-ins to 20 accounts failed from one network within an hour. Addresses used: 3.",
    },
  });
  expect(shownValues(found, "password_spraying")).toEqual({
    "network.failed_accounts_1h": 20,
    "network.ips_1h": 3,
    "network.login_accounts_1h": 0,
    "account.device_is_new": false,
    "device.is_known": false,
    "login.ratio": 0,
    "login.history": 0,
    "account.ip_is_known": false,
  });
});

test("rule password_spraying: 19 accounts or 2 addresses are not enough, however often they are tried", async () => {
  for (const [steps, features] of [
    [sprayed(19, { tries: 2 }), { "network.failed_accounts_1h": 19, "network.ips_1h": 3 }],
    [sprayed(20, { addresses: 2 }), { "network.failed_accounts_1h": 20, "network.ips_1h": 2 }],
  ] as const) {
    const stage = await Stage.open();
    const last = await stage.playLast(steps);
    expect(last.features).toMatchObject(features);
    expect(last.rules).not.toContain("password_spraying");
  }
});

test("rule password_spraying: a network where every fourth log-in succeeds is not an attack, but if fewer succeed, it is", async () => {
  for (const [count, rules] of [
    [7, []],
    [6, ["password_spraying"]],
  ] as const) {
    const stage = await Stage.open();
    const subscribers = Array.from({ length: count }, (_, minute): Step => {
      return { minute, type: "login_succeeded", website_account_id: `subscriber-${minute}`, ip: `203.0.113.${100 + minute}` };
    });
    const last = await stage.playLast([...subscribers, ...sprayed(20)]);
    expect(last.features).toMatchObject({ "network.failed_accounts_1h": 20, "network.login_accounts_1h": count });
    expect(last.rules).toEqual(rules);
  }
});
