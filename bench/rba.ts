// Runs the same detection on log-ins that were synthesized from those of a real service: the public data set of Wiefling et al.
// (2022), which you must download yourself. Run with `node bench/rba.ts rba-dataset.csv [--rows n]`. It runs in one process and
// in memory: about 2 GB for a million rows.
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { readLogins } from "./rba-file.ts";
import { LoginBench } from "./rba-logins.ts";

const progressRows = 100_000;

const { values, positionals } = parseArgs({ options: { rows: { type: "string", default: "1000000" } }, allowPositionals: true });
const [path] = positionals;
const rowsMax = Number(values.rows);
if (path === undefined || !(rowsMax >= 1)) {
  process.stderr.write("usage: node bench/rba.ts <rba-dataset.csv> [--rows n]\n");
  process.exit(2);
}
const bench = new LoginBench();
for await (const row of readLogins(path)) {
  bench.add(row);
  if (bench.rows % progressRows === 0) process.stderr.write(`${bench.rows} rows\n`);
  if (bench.rows >= rowsMax) break;
}
process.stdout.write(`${bench.text(basename(path))}\n`);
