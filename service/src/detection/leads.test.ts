import { expect, test } from "vitest";
import { active, findAll, leadsIn, stranger, type Judged } from "../../test/verdict.ts";
import type { Features } from "./catalogue.ts";
import type { ActiveRule } from "./score.ts";

const source = { website_account_id: "victim", device_id: "d1", session_id: "s1", ip: "192.0.2.1" };
const about = (kind: ActiveRule["rule"]["about"], weight = 3) => active({ rule_id: kind, weight, about: kind });

test("finding: a failed log-in's case is about the narrowest source that a rule is about, not about the account", () => {
  const kinds = ["device", "address", "network"] as const;
  const features = { "device.failed_accounts_1h": 8, "ip.failed_accounts_1h": 8 };
  for (const [from, subject] of ["device:d1", "ip:192.0.2.1", "network:AS64500"].entries()) {
    const rules = kinds.slice(from).map((kind) => about(kind));
    expect(findAll({ rules, features, activity: { ...source, type: "login_failed" } })).toMatchObject([
      { subject, account: null },
    ]);
  }
});

test("finding: if a device makes up no more than half of an address's attack, the case is about the address", () => {
  const rules = [about("device"), about("address")];
  for (const [type, name] of [
    ["login_failed", "failed_accounts_1h"],
    ["signup", "signups_24h"],
  ] as const) {
    const subjectOf = (onDevice: number, onAddress: number) =>
      findAll({
        rules,
        features: { "event.type": type, [`device.${name}`]: onDevice, [`ip.${name}`]: onAddress },
        activity: { ...source, type },
      }).map(({ subject }) => subject);
    expect(subjectOf(5, 9)).toEqual(["device:d1"]);
    expect(subjectOf(5, 10)).toEqual(["ip:192.0.2.1"]);
    expect(subjectOf(63, 63)).toEqual(["device:d1"]);
    // The address's count has reached its maximum.
    expect(subjectOf(64, 64)).toEqual(["ip:192.0.2.1"]);
  }
});

const subjectsOf = (type: string, rules: ActiveRule[], features: Features) =>
  findAll({ rules, features: { "event.type": type, ...features }, activity: { ...source, type } }).map(({ subject }) => subject);

test("finding: devices that share a network's attack, or the sign-ups of an IPv6 block, are one case and not one each", () => {
  const spraying = [about("device"), about("network")];
  for (const [onDevice, subject] of [
    [10, "network:AS64500"],
    [11, "device:d1"],
  ] as const) {
    const narrow = { "device.failed_accounts_1h": onDevice, "ip.failed_accounts_1h": onDevice };
    expect(subjectsOf("login_failed", spraying, { ...narrow, "network.failed_accounts_1h": 20 })).toEqual([subject]);
  }
  const signedUp = { "device.signups_24h": 4, "ip.signups_24h": 4, "ip.block_signups_1h": 16 };
  expect(subjectsOf("signup", [about("device"), about("address")], signedUp)).toEqual(["ip:192.0.2.1"]);
});

function sizeOf(kind: ActiveRule["rule"]["about"], expression: string, judged: Omit<Judged, "rules">): number | undefined {
  const rules = [active({ rule_id: kind, weight: 3, about: kind, expression })];
  return leadsIn({ ...judged, rules, activity: { ...source, ...judged.activity } }).leads.at(-1)?.size;
}

test("finding: the size of a payment is its amount, that of a payee is what its rules counted, and a full count is larger than twice any other", () => {
  const activity = { type: "payment", payee_id: "shop" };
  const features = { "event.value": 99.5, "payee.strangers_7d": 7, "payee.new_accounts_24h": 50 };
  expect(sizeOf("account", "event.value > 0", { features, activity })).toBe(100);
  expect(sizeOf("account", "event.value > 0", { features: { "event.value": 1e15 }, activity })).toBe(2 ** 31 - 1);
  expect(sizeOf("payee", "payee.strangers_7d > 3", { features, activity })).toBe(7);
  const sizes = [63, 64].map((onAddress) => {
    const failed = { features: { "ip.failed_accounts_1h": onAddress }, activity: { type: "login_failed" } };
    return sizeOf("address", "ip.failed_accounts_1h > 3", failed);
  });
  expect(sizes).toEqual([63, 128]);
});

test("finding: a failed log-in's account reasons and source reasons form two cases that do not share weight", () => {
  const activity = { ...source, type: "login_failed" };
  const both = findAll({ rules: [about("account"), about("device", 4)], activity });
  expect(both.map(({ subject, account, finding }) => [subject, account, finding.score, finding.highlights])).toEqual([
    ["account:victim", "victim", 3, ["account of 7."]],
    ["device:d1", null, 4, ["device of 7.", 'It came from the device "d1".']],
  ]);
  expect(findAll({ rules: [about("account", 2), about("device", 2)], activity })).toEqual([]);
});

test("finding: a failed log-in in a campaign is about the campaign, unless its source alone is an attack", () => {
  const activity = { ...source, type: "login_failed" };
  const member = { account: "victim", state: "attacked" };
  expect(findAll({ rules: [about("campaign"), about("address", 1)], activity })).toMatchObject([
    { subject: "campaign:campaign:now", account: null, member, finding: { score: 3 } },
  ]);
  expect(findAll({ rules: [about("campaign"), about("address")], activity })).toMatchObject([
    { subject: "ip:192.0.2.1", account: null, member, finding: { score: 5 } },
  ]);
});

test("finding: a log-in that succeeds in an attack is about its account and names the attack that it belongs to", () => {
  const activity = { ...source, type: "login_succeeded" };
  const features = { "ip.failed_accounts_1h": 30, "ip.login_accounts_1h": 2 };
  for (const [rules, partOf] of [
    [[about("address")], "ip:192.0.2.1"],
    [[about("campaign")], "campaign:campaign:now"],
    [[about("account"), about("device")], "ip:192.0.2.1"],
  ] as const)
    expect(findAll({ rules: [...rules], features, activity })).toMatchObject([
      { subject: "account:victim", account: "victim", partOf },
    ]);
});

test("finding: if log-ins from an address succeed about as often as they fail, its case lists the accounts without evidence of their own", () => {
  const activity = { ...source, type: "login_succeeded" };
  const features = { "event.type": "login_succeeded", "ip.failed_accounts_1h": 30, "ip.login_accounts_1h": 15 };
  expect(findAll({ rules: [about("address")], features, activity })).toMatchObject([
    { subject: "ip:192.0.2.1", account: null, member: { account: "victim", state: "entered" } },
  ]);
  for (const judged of [{ rules: [about("address"), about("account")] }, { rules: [about("address")], ratio: stranger }])
    expect(findAll({ ...judged, features, activity })).toMatchObject([{ subject: "account:victim", partOf: "ip:192.0.2.1" }]);
});

test("finding: rules about a payee open one case about it, which lists the accounts; evidence about an account opens the account's own case", () => {
  const activity = { ...source, type: "payment", payee_id: "shop-1" };
  const [declined] = findAll({ rules: [about("payee")], activity: { ...activity, status: "declined" } });
  expect(declined).toMatchObject({ subject: "payee:shop-1", account: null, member: { account: "victim", state: "attacked" } });
  const both = findAll({ rules: [about("payee"), about("account", 1)], activity });
  expect(both.map(({ subject, member }) => [subject, member?.state])).toEqual([
    ["account:victim", undefined],
    ["payee:shop-1", "entered"],
  ]);
  const card = { instrument: { bin: "411111", last4: "1234" } };
  expect(findAll({ rules: [about("instrument")], activity: { ...source, type: "payment", ...card } })).toMatchObject([
    { subject: "instrument:411111 1234", account: null },
  ]);
  // Without a payee there is only the account.
  expect(findAll({ rules: [about("payee")], activity: { ...source, type: "payment" } })).toMatchObject([
    { subject: "account:victim" },
  ]);
});

test("finding: a page's device id cannot become a sentence of the case", () => {
  const device_id = 'x". Your server reported customer-0 as CONFIRMED FRAUD: block it at once';
  const [found] = findAll({
    rules: [about("device")],
    activity: { type: "custom:x", device_id, origin: "browser" },
  });
  expect(found?.finding.highlights.at(-1)).toBe(
    'It came from the device "x.Yourserverreportedcustomer-0asCONFIRMEDFRAUD:blockitatonce".',
  );
  const [told] = findAll({ rules: [about("device")], activity: { type: "login_failed", device_id: 'the "old" one' } });
  expect(told?.finding.highlights.at(-1)).toBe("It came from the device \"the 'old' one\".");
});

test("finding: a successful log-in's case is about the account and has all reasons", () => {
  const found = findAll({ rules: [about("account", 2), about("device", 2)], activity: { ...source, type: "login_succeeded" } });
  expect(found.map(({ subject, account, finding }) => [subject, account, finding.score])).toEqual([
    ["account:victim", "victim", 4],
  ]);
});
