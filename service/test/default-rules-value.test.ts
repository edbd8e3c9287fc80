import { expect, test } from "vitest";
import { shownValues, Stage, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;
const owner = { website_account_id: "owner" };

function pay(minute: number, amount: number, more: Partial<Step> = {}): Step {
  return { minute, type: "payment", ...owner, attributes: { amount }, ...more };
}

function habit(amount: number, count = 3): Step[] {
  return Array.from({ length: count }, (_, index) => pay(index * hour, amount));
}

const addPayee = (minute: number, more: Partial<Step> = {}): Step => ({ minute, type: "payee_added", ...owner, ...more });

test("rule change_then_value: four times the usual amount within two hours of a change opens an Account Takeover case", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([...habit(50), addPayee(day), pay(day + 120, 200, { type: "transfer" })]);
  expect(last.rules).toEqual(["change_then_value"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Account Takeover",
      recommended_action: "CHALLENGE",
      summary: "A transfer of 200 followed 120 minutes after a payee was added. Earlier payments of this account: 3.",
    },
  });
  expect(shownValues(found, "change_then_value")).toMatchObject({
    "account.minutes_since_sensitive_change": 120,
    "account.value_ratio": 4,
    "account.values": 3,
    "event.value": 200,
  });
});

test("rule change_then_value: a little less, a minute later, or no change is not enough", async () => {
  for (const steps of [[addPayee(day), pay(day + 120, 199)], [addPayee(day), pay(day + 121, 200)], [pay(day + 120, 200)]]) {
    const stage = await Stage.open();
    expect((await stage.playLast([...habit(50), ...steps])).rules).toEqual([]);
  }
});

test("rule change_then_value: an amount from before the change is not one after it, even if it arrives later", async () => {
  const stage = await Stage.open();
  await stage.play([...habit(50), addPayee(day)]);
  const late = await stage.playLast([pay(day - 30, 200)]);
  expect(late.features["account.minutes_since_sensitive_change"]).toBeUndefined();
  expect(late.rules).toEqual([]);
});

test("rule change_then_value: without earlier amounts to compare with, 1,000 is enough and 999 is not", async () => {
  for (const [amount, rules] of [
    [1000, ["change_then_value"]],
    [999, []],
  ] as const) {
    const stage = await Stage.open();
    const last = await stage.playLast([...habit(50, 2), addPayee(day), pay(day + 5, amount)]);
    expect(last.features["account.values"]).toBe(2);
    expect(last.rules).toEqual(rules);
  }
});

test("rule change_then_value: with earlier amounts to compare with, 1,000 is not enough if it is usual", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([...habit(500), addPayee(day), pay(day + 5, 1000)]);
  expect(last).toMatchObject({ rules: [], features: { "account.values": 3, "account.value_ratio": 2 } });
});

test("rule change_then_value: in a session from a new device, twice the usual amount is enough and a little less is not", async () => {
  for (const [amount, device_id, rules] of [
    [100, "another", ["change_then_value"]],
    [99, "another", []],
    [100, "own-phone", []],
  ] as const) {
    const stage = await Stage.open();
    const login: Step = { minute: 0, type: "login_succeeded", ...owner, device_id: "own-phone" };
    const session = { session_id: "s1", device_id };
    const steps = [
      login,
      ...habit(50),
      { ...login, minute: day, ...session },
      addPayee(day + 1, session),
      pay(day + 5, amount, session),
    ];
    expect((await stage.playLast(steps)).rules).toEqual(rules);
  }
});

test("rule value_far_above_own: ten times the account's median opens an Account Takeover case", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([...habit(20), pay(day, 200)]);
  expect(last.rules).toEqual(["value_far_above_own"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Account Takeover",
      recommended_action: "CHALLENGE",
      summary: "The amount 200 is 10 times the median of this account's 3 earlier amounts.",
    },
  });
  expect(shownValues(found, "value_far_above_own")).toMatchObject({ "account.value_ratio": 10, "event.value": 200 });
});

test("rule value_far_above_own: an amount of 100 is enough", async () => {
  const stage = await Stage.open();
  expect((await stage.playLast([...habit(9), pay(day, 100)])).rules).toEqual(["value_far_above_own"]);
});

test("rule value_far_above_own: a little less, a small amount, or two amounts to compare with are not enough", async () => {
  for (const steps of [
    [...habit(20), pay(day, 199.8)],
    [...habit(9), pay(day, 99)],
    [...habit(20, 2), pay(day, 500)],
  ]) {
    const stage = await Stage.open();
    expect((await stage.playLast(steps)).rules).toEqual([]);
    expect(await stage.cases()).toEqual([]);
  }
});

const login = (minute: number, more: Partial<Step> = {}): Step => ({
  minute,
  type: "login_succeeded",
  ...owner,
  device_id: "own-phone",
  ...more,
});

test("rule value_far_above_own: on a device that the account logged in on before, ten times is not enough", async () => {
  for (const [device_id, rules] of [
    ["own-phone", []],
    ["another", ["value_far_above_own"]],
  ] as const) {
    const stage = await Stage.open();
    expect((await stage.playLast([login(0), ...habit(20), pay(day, 200, { device_id })])).rules).toEqual(rules);
  }
});

test("rule value_far_above_own: after an unusual log-in, four times is enough; less, or after a more usual log-in, is not", async () => {
  for (const [devices, amount, ratio, rules] of [
    [2, 120, 1.1, ["value_far_above_own"]],
    [2, 119, 1.1, []],
    [3, 120, 0.85, []],
  ] as const) {
    const stage = await Stage.open();
    const logins = Array.from({ length: 4 }, (_, index) => login(index * day, { device_id: `own-${index % devices}` }));
    const session = { session_id: "s1", device_id: "another" };
    const last = await stage.playLast([...logins, ...habit(30), login(10 * day, session), pay(10 * day + 5, amount, session)]);
    expect(last).toMatchObject({ rules, features: { "login.ratio": ratio } });
  }
});
