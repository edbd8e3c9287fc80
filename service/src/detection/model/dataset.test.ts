import { expect, test } from "vitest";
import { decisionText } from "../../../test/decided.ts";
import { paymentsOf, type Paid } from "../../../test/training-lab.ts";
import { contextOf, packed, unpack } from "../vector.ts";
import { Dataset, modelFields, readDecision, Thinned } from "./dataset.ts";
import { averagePrecision, calibrationError } from "./metrics.ts";
import { probabilityOf } from "./prior.ts";
import { rate, serve } from "./serving.ts";
import { train, trainingLimits } from "./train.ts";
import type { Model } from "./trees.ts";

function learn(paid: Iterable<Paid>): Model {
  const data = new Dataset();
  for (const each of paid) data.add(each);
  const training = train(data.sample(), { ...trainingLimits, treesMax: 30, rate: 0.15 });
  for (;;) {
    const { done, value } = training.next();
    if (!done) continue;
    if ("reason" in value) throw new Error(value.reason);
    return value.model;
  }
}

const contextsOf = (paid: Paid[]) => paid.map((each) => ({ ...each, context: contextOf(each.features, {}) }));
const tested = contextsOf(paymentsOf({ seed: 2 }));

function precisionOf(model: Model): number {
  const served = serve(model, "value");
  const rows = tested.map(({ context, isFraud }) => ({ score: rate(served, context, 0), isFraud, weight: 1 }));
  return averagePrecision(rows) ?? 0;
}

test("dataset: a stored decision gives the values that the model would have read, and the log-odds without the model's part", () => {
  const features = { "event.type": "payment", "event.value": 12.5, "account.device_is_new": true, "event.country": "DE" };
  const text = decisionText({ v: 1, l: 3.3, r: { one: 2 }, m: ["0123456789ab", 1.1], n: ["ba9876543210", 4], f: features });
  const read = readDecision(text);
  expect(read).toMatchObject({ rules: 2.2, logOdds: 3.3, fired: ["one"], challenger: ["ba9876543210", 4] });
  const context = contextOf(features, {});
  expect(unpack(packed(context))).toEqual(features);
  const served = serve(learn(paymentsOf({ count: 500 })), "value");
  const at = (code: string) => read.values[modelFields.indexOf(code)];
  expect(served.forest.fields.every((code) => at(code) !== undefined)).toBe(true);
  expect(modelFields).not.toContain("03");
});

test("dataset: the same rows in another order give the same model", () => {
  const paid = paymentsOf({ count: 800 });
  expect(learn(paid.toReversed())).toEqual(learn(paid));
});

test("poisoning: a reporter whose labels are false in one of twenty cases costs at most .03 of the average precision", () => {
  const paid = paymentsOf();
  const wrong = paid.map((each, index) => (index % 20 === 0 ? { ...each, isFraud: !each.isFraud } : each));
  const [clean, poisoned] = [precisionOf(learn(paid)), precisionOf(learn(wrong))];
  expect(clean).toBeGreaterThan(0.7);
  expect(poisoned).toBeGreaterThan(clean - 0.03);
});

test("poisoning: one account that repeats a fraud pattern without being reported does not make the pattern look honest", () => {
  const paid = paymentsOf();
  const frauds = paid.filter(({ isFraud }) => isFraud);
  const flood = Array.from({ length: 20_000 }, (_, index): Paid => {
    const like = frauds[index % frauds.length];
    if (!like) throw new Error("no fraud was generated");
    return { ...like, key: `flood-${index}`, account: "attacker", isFraud: false };
  });
  expect(precisionOf(learn([...flood, ...paid]))).toBeGreaterThan(precisionOf(learn(paid)) - 0.05);
});

// Five accounts with hundreds of payments each.
function busy(paid: Paid[]): Paid[] {
  return paid.map((each, index) => {
    const features = { ...each.features, "account.age_minutes": index };
    return { ...each, account: `busy-${index % 5}`, features, decision: decisionText({ v: 1, l: 0, f: features }) };
  });
}

test("dataset: the honest payments of a busy account's last days are among the rows too", () => {
  const model = learn(busy(paymentsOf()));
  const late = contextsOf(busy(paymentsOf({ seed: 2 })).slice(-1000));
  const served = serve(model, "value");
  const rows = late.map(({ context, isFraud }) => ({ score: rate(served, context, 0), isFraud, weight: 1 }));
  expect(averagePrecision(rows) ?? 0).toBeGreaterThan(0.65);
  const chances = rows.map(({ score, ...row }) => ({ ...row, score: probabilityOf(score) }));
  expect(calibrationError(chances) ?? 1).toBeLessThan(0.05);
});

test("poisoning: one account with many reports of small payments does not make small payments suspicious", () => {
  const paid = paymentsOf();
  const small = paid.find(({ isFraud, features }) => !isFraud && Number(features["event.value"]) < 50);
  if (!small) throw new Error("no small payment was generated");
  const flood = Array.from({ length: 10_000 }, (_, index) => ({
    ...small,
    key: `f-${index}`,
    account: "attacker",
    isFraud: true,
  }));
  expect(precisionOf(learn([...paid, ...flood]))).toBeGreaterThan(precisionOf(learn(paid)) - 0.05);
});

test("thinned: the kept rows do not depend on the order, and stand for all rows", () => {
  const items = Array.from({ length: 1000 }, (_, index) => `item ${index}`);
  const [one, other] = [new Thinned<string>(100, String), new Thinned<string>(100, String)];
  items.forEach((item) => one.add(item));
  items.toReversed().forEach((item) => other.add(item));
  expect(one.kept.toSorted()).toEqual(other.kept.toSorted());
  expect(one.kept.length).toBeLessThanOrEqual(100);
  expect(one.kept.length * one.stride).toBeGreaterThan(700);
  expect(one.kept.length * one.stride).toBeLessThan(1300);
});
