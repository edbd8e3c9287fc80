// How good detection is, on simulated shops that no rule was tuned on: attacks through the real collector, API and engine, on a
// PostgreSQL of its own in a temporary folder. Run with
// `node bench/detection.ts [--seeds a,b,c] [--users n] [--days n] [--history n] [--json]`.
import { parseArgs } from "node:util";
import { measure, type Measured } from "./detection-measure.ts";
import { SimulatedService } from "./detection-service.ts";
import { periodOf } from "./detection-shop.ts";
import { summarise } from "./detection-summary.ts";
import { tableText } from "./detection-table.ts";

const { values } = parseArgs({
  options: {
    // Those that rules were tuned on are tune-1 to tune-4.
    seeds: { type: "string", default: "held-out-1,held-out-2,held-out-3" },
    users: { type: "string", default: "300" },
    days: { type: "string", default: "14" },
    history: { type: "string", default: "42" },
    json: { type: "boolean", default: false },
  },
});

function wholeOf(name: "users" | "days" | "history"): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1 || number > 10_000) throw new RangeError(`--${name} must be a whole number`);
  return number;
}

const setting = {
  seeds: values.seeds.split(","),
  users: wholeOf("users"),
  days: wholeOf("days"),
  historyDays: wholeOf("history"),
};
const period = periodOf(setting);
const service = await SimulatedService.start(period);
// Its PostgreSQL would stay.
process.once("SIGINT", () => void service.stop().finally(() => process.exit(130)));
const measured: Measured[] = [];
try {
  for (const seed of setting.seeds) {
    const shop = { seed, users: setting.users };
    const simulated = await service.run(shop, period, (line) => process.stderr.write(`${line}\n`));
    measured.push(measure({ ...simulated, measuredMs: period.measuredMs }));
  }
} finally {
  await service.stop();
}
const summary = summarise(measured);
process.stdout.write(
  `${values.json ? JSON.stringify({ simulated: setting, ...summary }, null, 2) : tableText(summary, setting)}\n`,
);
