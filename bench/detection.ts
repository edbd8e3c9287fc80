// Measures detection on simulated shops that no rule was tuned on. Attacks pass through the real collector, API and engine, on a
// separate PostgreSQL in a temporary folder. Run with `node bench/detection.ts [--voice server|signed|snippet|all] [--seeds
// a,b,c] [--users n] [--days n] [--history n] [--json]`.
import { parseArgs } from "node:util";
import { voices, type Voice } from "@casehound/simulator/voice";
import { measureForgers, type Forged } from "./detection-forger.ts";
import { measure, type Measured } from "./detection-measure.ts";
import { SimulatedService } from "./detection-service.ts";
import { periodOf } from "./detection-shop.ts";
import { summarise, type Summary } from "./detection-summary.ts";
import { forgedText, tableText, type Setting } from "./detection-table.ts";

const { values } = parseArgs({
  options: {
    voice: { type: "string", default: "all" },
    // Rules were tuned on tune-1 to tune-4.
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

function kindsOf(wanted: string): Voice["kind"][] {
  const kinds = voices.filter((each) => wanted === "all" || wanted === each);
  if (kinds.length === 0) throw new RangeError(`--voice must be ${voices.join(", ")} or all`);
  return kinds;
}

// The forger's shops are small, because what a forger achieves depends on the accounts that they name, not on the size of the
// shop.
const forgedUsers = 100;
const forgedDays = 14;

const kinds = kindsOf(values.voice);
const seeds = values.seeds.split(",");
const setting = { users: wholeOf("users"), days: wholeOf("days"), historyDays: wholeOf("history") };
const period = periodOf(setting);
const service = await SimulatedService.start(period);
// Otherwise its PostgreSQL would keep running.
process.once("SIGINT", () => void service.stop().finally(() => process.exit(130)));
const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);

type Result = { kind: Voice["kind"]; simulated: Setting; summary: Summary };

async function measureKind(kind: Voice["kind"]): Promise<Result> {
  // A run of all kinds uses one seed for the shops without servers. Otherwise it would take half an hour.
  const own = kinds.length > 1 && kind !== "server" ? seeds.slice(0, 1) : seeds;
  const measured: Measured[] = [];
  for (const seed of own) {
    const simulated = await service.run({ seed, users: setting.users, kind }, period, (line) => onProgress(`${kind} ${line}`));
    measured.push(measure({ ...simulated, measuredMs: period.measuredMs }));
  }
  return { kind, simulated: { ...setting, seeds: own }, summary: summarise(measured) };
}

const results: Result[] = [];
let forged: Forged[] = [];
try {
  for (const kind of kinds) results.push(await measureKind(kind));
  const shop = { users: forgedUsers, historyDays: forgedDays, endMs: period.endMs };
  if (kinds.includes("snippet")) forged = await measureForgers(service, shop, { onProgress });
} finally {
  await service.stop();
}
const tables = [
  ...results.map(({ kind, summary, simulated }) => tableText(kind, summary, simulated)),
  ...(forged.length === 0 ? [] : [forgedText(forged)]),
];
process.stdout.write(`${values.json ? JSON.stringify({ results, forged }, null, 2) : tables.join("\n\n\n")}\n`);
