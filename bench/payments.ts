// Measures a tenant's own model on card payments: the protocol of the handbook "Reproducible Machine Learning for Credit Card
// Fraud Detection", through the API and the engine, on a separate PostgreSQL in a temporary folder. Run with `node
// bench/payments.ts transactions.csv.gz [--quick] [--customers n] [--weeks n] [--flip percent] [--mistaken percent]`. You need
// the file: a CSV with the columns time (Unix seconds), customer, terminal, amount and fraud (0 or 1).
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { measurePayments } from "./payments-measure.ts";
import { paymentsText } from "./payments-table.ts";

const { values, positionals } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    customers: { type: "string" },
    weeks: { type: "string", default: "4" },
    flip: { type: "string", default: "0" },
    mistaken: { type: "string", default: "0" },
  },
  allowPositionals: true,
});

const quickCustomers = "1000";

function numberOf(
  name: "customers" | "weeks" | "flip" | "mistaken",
  text: string,
  [min, max]: [min: number, max: number],
): number {
  const number = Number(text);
  if (!(number >= min && number <= max)) throw new RangeError(`--${name} must be a number from ${min} to ${max}`);
  return number;
}

const [path] = positionals;
if (path === undefined) {
  process.stderr.write(
    "usage: node bench/payments.ts <transactions.csv.gz> [--quick] [--customers n] [--weeks n] [--flip percent] [--mistaken percent]\n",
  );
  process.exit(2);
}
const customers = values.customers ?? (values.quick ? quickCustomers : undefined);
const { measured, setting } = await measurePayments(path, {
  customers: customers === undefined ? null : numberOf("customers", customers, [1, 1e7]),
  weeks: numberOf("weeks", values.weeks, [1, 8]),
  flip: numberOf("flip", values.flip, [0, 50]),
  mistaken: numberOf("mistaken", values.mistaken, [0, 50]),
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${paymentsText(measured, { ...setting, file: basename(path) })}\n`);
