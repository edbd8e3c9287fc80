import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { numbersFrom } from "../service/test/labelled-rows.ts";
import { readPayments, type Payment } from "./payments-file.ts";
import { measurePayments } from "./payments-measure.ts";
import { dayMs, measureWeek, testedPayments, testWeeksOf } from "./payments-protocol.ts";
import { paymentsText } from "./payments-table.ts";

const customers = 300;
const terminals = 40;
const days = 50;
const paymentsPerDay = 60;
// Two terminals at a time are compromised for two weeks. All payments there during this time are fraud.
const compromised = (terminal: number, day: number): boolean =>
  day >= 8 && terminal % 4 < 2 && Math.floor((day - 8) / 14) === Math.floor(terminal / 4);
// Compromised from day 36 to the end. Some of its frauds are known from day 43 on, when the test week begins.
const lastCompromised = "8";
const knownDays = 4;
const hours = [9, 13, 18];

// The file of a shop that does not exist.
function linesOf(): string[] {
  const next = numbersFrom(7);
  const lines = ["time,customer,terminal,amount,fraud,scenario"];
  const startSeconds = Date.UTC(2018, 3, 1) / 1000;
  for (let day = 0; day < days; day++) {
    for (let index = 0; index < paymentsPerDay; index++) {
      const terminal = Math.floor(next() * terminals);
      // At three times of the day, so that there are few batches.
      const seconds = startSeconds + day * 86_400 + (hours[index % hours.length] ?? 0) * 3600 + index * 30;
      const fraud = compromised(terminal, day) ? 1 : 0;
      lines.push(`${seconds},${Math.floor(next() * customers)},${terminal},${(5 + 95 * next()).toFixed(2)},${fraud},0`);
    }
  }
  return lines;
}

function fileOf(lines: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "casehound-payments-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "payments.csv");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

test("bench payments: the run prints every figure, and a payee that is known to be compromised scores above the rest", async () => {
  const path = fileOf(linesOf());
  const { measured, setting } = await measurePayments(path, {
    customers: null,
    weeks: 1,
    flip: 0,
    mistaken: 0,
    onProgress: () => {},
  });
  const text = paymentsText(measured, { ...setting, file: "payments.csv" });
  for (const figure of [
    "AUC",
    "average precision",
    "card precision at 100",
    "calibration error",
    "recall",
    "CPU per payment",
    "training",
  ])
    expect(text).toContain(figure);
  expect(text).not.toContain("NaN");
  const [model, rules] = measured;
  const rated = model?.played.rated[0] ?? [];
  const lastMs = Math.max(...rated.map(({ payment }) => payment.atMs));
  const scoresOf = (isCompromised: boolean) =>
    rated
      .filter(
        ({ payment }) => payment.atMs > lastMs - knownDays * dayMs && (payment.terminal === lastCompromised) === isCompromised,
      )
      .map(({ logOdds }) => logOdds);
  const others = scoresOf(false).toSorted((one, other) => one - other);
  expect(scoresOf(true).length).toBeGreaterThan(0);
  expect(Math.min(...scoresOf(true))).toBeGreaterThan(others[Math.floor(0.9 * others.length)] ?? Infinity);
  expect(model?.mean.auc).toBeGreaterThan(0.8);
  expect(rules?.mean.auc).toBe(0.5);
  expect(rules?.played).toMatchObject({ labels: 0, trainings: [] });
}, 600_000);

function payment(day: number, more: Partial<Payment> = {}): Payment {
  const id = `${day} ${more.customer ?? "ann"} ${more.amount ?? 1}`;
  return { id, atMs: day * dayMs, customer: "ann", terminal: "t", amount: 1, isFraud: false, isReported: false, ...more };
}

test("bench payments: the test weeks end with the file's last day, and a customer with a known fraud is left out", () => {
  const end = payment(127, { customer: "end" });
  expect(testWeeksOf([end], 4)).toEqual([100, 107, 114, 121].map((day) => day * dayMs));
  const frauds = [
    payment(85, { customer: "too old", isFraud: true }),
    payment(92, { customer: "known", isFraud: true }),
    payment(94, { customer: "later", isFraud: true }),
  ];
  const paid = [100, 101, 102].flatMap((day) => ["too old", "known", "later"].map((customer) => payment(day, { customer })));
  const tested = testedPayments([...frauds, ...paid, end], 100 * dayMs).map(({ id }) => id);
  // A fraud of day 94 is known on day 102, 8 days later.
  expect(tested).toEqual(["100 too old 1", "100 later 1", "101 too old 1", "101 later 1", "102 too old 1"]);
});

test("bench payments: a customer who was found on one day is not checked on the next", () => {
  const rated = [
    { payment: payment(100, { isFraud: true }), logOdds: 3, chance: 0.9 },
    { payment: payment(100, { customer: "bob" }), logOdds: 2, chance: 0.1 },
    { payment: payment(101, { isFraud: true }), logOdds: 3, chance: 0.9 },
    { payment: payment(101, { customer: "bob" }), logOdds: 2, chance: 0.1 },
  ];
  expect(measureWeek(rated, 1)).toMatchObject({ payments: 4, frauds: 2, auc: 1, averagePrecision: 1, cardPrecision: 0.5 });
});

function wrong(payments: readonly Payment[]): Payment[] {
  return payments.filter(({ isFraud, isReported }) => isFraud !== isReported);
}

test("bench payments: all times are moved by whole weeks, and --flip makes the given share of labels wrong", async () => {
  const path = fileOf(linesOf());
  const nowMs = Date.UTC(2026, 0, 1);
  const options = { customers: null, flip: 0, mistaken: 0, nowMs };
  const { payments, weeksMoved } = await readPayments(path, options);
  const last = payments.at(-1)?.atMs ?? 0;
  expect([new Date(last).getUTCDay(), new Date(last).getUTCHours()]).toEqual([0, 18]);
  expect(nowMs - last).toBeLessThan(7 * dayMs);
  expect(weeksMoved).toBeGreaterThan(390);
  expect(wrong(payments)).toEqual([]);
  const flipped = (await readPayments(path, { ...options, flip: 5 })).payments;
  expect(wrong(flipped).length / flipped.length).toBeCloseTo(0.05, 1);
  const mistaken = wrong((await readPayments(path, { ...options, mistaken: 20 })).payments);
  const missed = mistaken.filter(({ isFraud }) => isFraud).length;
  expect(missed).toBeGreaterThan(0);
  expect(Math.abs(mistaken.length - 2 * missed)).toBeLessThan(missed);
  expect(new Set((await readPayments(path, { ...options, customers: 50 })).payments.map(({ customer }) => customer)).size).toBe(
    50,
  );
});
