import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { hashOf } from "../service/src/detection/sketch.ts";

// One payment of the file. `isReported` is what its label says, which differs from the truth if labels are flipped.
export type Payment = {
  id: string;
  atMs: number;
  customer: string;
  terminal: string;
  amount: number;
  isFraud: boolean;
  isReported: boolean;
};

const columns = ["time", "customer", "terminal", "amount", "fraud"] as const;
const weekMs = 7 * 24 * 3_600_000;

export type FileOptions = {
  // A sample of this many customers; null for all.
  customers: number | null;
  // Percent of all labels that say the opposite of the truth.
  flip: number;
  // Percent of the fraud reports that name an honest payment instead.
  mistaken: number;
  nowMs: number;
};

type PaymentFile = { payments: Payment[]; weeksMoved: number; customersOfFile: number };

// Reads a CSV file, compressed or not, in order of time. All times are moved by whole weeks, so that the last payment is shortly
// before now and keeps its weekday and hour.
export async function readPayments(path: string, options: FileOptions): Promise<PaymentFile> {
  const all: Payment[] = [];
  for await (const payment of rowsOf(path)) all.push(payment);
  all.sort((one, other) => one.atMs - other.atMs);
  const weeksMoved = Math.floor((options.nowMs - (all.at(-1)?.atMs ?? 0)) / weekMs);
  const names = [...new Set(all.map(({ customer }) => customer))];
  const wanted = sampleOf(names, options.customers);
  const payments = all.filter(({ customer }) => wanted.has(customer));
  for (const payment of payments) payment.atMs += weeksMoved * weekMs;
  mislabel(payments, options);
  return { payments, weeksMoved, customersOfFile: names.length };
}

async function* rowsOf(path: string): AsyncGenerator<Payment> {
  const file = createReadStream(path);
  const input = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  // A substring keeps its whole chunk of the file in memory, so each distinct name is kept only once.
  const names = new Map<string, string>();
  const nameOf = (text: string) => names.get(text) ?? (names.set(text, text), text);
  let places: number[] | null = null;
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line++;
    if (text === "") continue;
    const cells = text.split(",");
    if (places === null) {
      places = columns.map((name) => cells.indexOf(name));
      const missing = columns[places.indexOf(-1)];
      if (missing !== undefined) throw new Error(`the file has no column ${missing}`);
      continue;
    }
    const [time = "", customer = "", terminal = "", amount = "", fraud = ""] = places.map((place) => cells[place] ?? "");
    const isFraud = fraud === "1";
    const row = { atMs: Number(time) * 1000, amount: Number(amount), isFraud, isReported: isFraud };
    if (time === "" || customer === "" || terminal === "" || !Number.isFinite(row.atMs) || !Number.isFinite(row.amount))
      throw new Error(`line ${line} is not a payment`);
    yield { id: `payment-${line - 1}`, customer: nameOf(customer), terminal: nameOf(terminal), ...row };
  }
}

// The same customers in every run.
function sampleOf(names: readonly string[], customers: number | null): Set<string> {
  if (customers === null) return new Set(names);
  return new Set(names.toSorted((one, other) => shareOf(one) - shareOf(other)).slice(0, customers));
}

function mislabel(payments: Payment[], { flip, mistaken }: FileOptions): void {
  const frauds = payments.filter(({ isFraud }) => isFraud).length;
  // As many honest payments are reported as frauds are not.
  const honest = (mistaken / 100) * (frauds / Math.max(payments.length - frauds, 1));
  for (const payment of payments) {
    const limit = flip / 100 + (payment.isFraud ? mistaken / 100 : honest);
    if (shareOf(`flip ${payment.id}`) < limit) payment.isReported = !payment.isFraud;
  }
}

// Returns a number from 0 to 1 that depends only on the text.
function shareOf(text: string): number {
  return (hashOf(text).lo >>> 0) / 2 ** 32;
}
