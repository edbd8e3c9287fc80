// Measures detection on simulated shops that no rule was tuned on. Attacks pass through the real collector, API and engine, on a
// separate PostgreSQL in a temporary folder. Run with `node bench/detection.ts [--voice server|signed|snippet|all] [--seeds
// a,b,c] [--users n] [--days n] [--history n] [--labels] [--json]`. With `--labels`, the shops are attacked in their history too,
// learn of the frauds, and train models. With `--scenes [--only a,b]` it instead plays honest but unusual scenes and the families
// of fraud that need payments.
import { parseArgs } from "node:util";
import { sceneKinds } from "@casehound/simulator/scenes";
import { stageSeeds } from "@casehound/simulator/stage";
import { voices, type Voice } from "@casehound/simulator/voice";
import { measureForgers, type Forged } from "./detection-forger.ts";
import { measureFamilies, type FamilyRun } from "./detection-families.ts";
import { measure, type Measured } from "./detection-measure.ts";
import { measureScene, type SceneResult } from "./detection-scenes.ts";
import { runTaught, type Lesson } from "./detection-learning.ts";
import { comparedText, lessonsText } from "./detection-lesson-table.ts";
import { SimulatedService } from "./detection-service.ts";
import { attackedPeriod, periodOf } from "./detection-shop.ts";
import { familiesText, scenesText, summariseFamilies } from "./detection-stage-table.ts";
import { summarise, type Summary } from "./detection-summary.ts";
import { forgedText, tableText, type Setting } from "./detection-table.ts";

const { values } = parseArgs({
  options: {
    voice: { type: "string" },
    // Rules were tuned on tune-1 to tune-4. Scenes have seeds of their own.
    seeds: { type: "string" },
    users: { type: "string", default: "300" },
    days: { type: "string", default: "14" },
    history: { type: "string", default: "42" },
    labels: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    scenes: { type: "boolean", default: false },
    only: { type: "string" },
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

// Models learn only from what servers report.
const kinds = kindsOf(values.voice ?? (values.labels ? "server" : "all"));
// One seed is enough for scenes, because each scene is a shop of its own.
const seedsDefault = values.scenes ? stageSeeds.heldOut[0] : "held-out-1,held-out-2,held-out-3";
const seeds = (values.seeds ?? seedsDefault).split(",");
const setting = { users: wholeOf("users"), days: wholeOf("days"), historyDays: wholeOf("history") };
const period = periodOf(setting);
const service = await SimulatedService.start(period);
// Otherwise its PostgreSQL would keep running.
process.once("SIGINT", () => void service.stop().finally(() => process.exit(130)));
const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);

type Result = { kind: Voice["kind"]; simulated: Setting; summary: Summary; lessons: Lesson[]; labels: number };

async function measureKind(kind: Voice["kind"]): Promise<Result> {
  // A run of all kinds uses one seed for the shops without servers. Otherwise it would take half an hour.
  const own = kinds.length > 1 && kind !== "server" ? seeds.slice(0, 1) : seeds;
  const measured: Measured[] = [];
  const lessons: Lesson[] = [];
  let labels = 0;
  const onLine = (line: string): void => onProgress(`${kind} ${line}`);
  for (const seed of own) {
    const shop = { seed, users: setting.users, kind };
    if (values.labels) {
      const taught = await runTaught(service, { ...shop, period: attackedPeriod(period), onProgress: onLine });
      measured.push(measure({ ...taught, measuredMs: period.measuredMs }));
      lessons.push(...taught.lessons);
      labels += taught.labels;
    } else {
      const simulated = await service.run(shop, period, onLine);
      measured.push(measure({ ...simulated, measuredMs: period.measuredMs }));
    }
  }
  return { kind, simulated: { ...setting, seeds: own }, summary: summarise(measured), lessons, labels };
}

type Report = { json: object; tables: string[] };

async function measureAttackers(): Promise<Report> {
  const results: Result[] = [];
  let forged: Forged[] = [];
  for (const kind of kinds) results.push(await measureKind(kind));
  const shop = { users: forgedUsers, historyDays: forgedDays, endMs: period.endMs };
  if (kinds.includes("snippet")) forged = await measureForgers(service, shop, { onProgress });
  const tables = results.map(({ kind, summary, simulated, lessons, labels }) =>
    [
      tableText(kind, summary, simulated),
      ...(values.labels ? [comparedText(summary.kinds.filter(({ attacks }) => attacks > 0)), lessonsText(lessons, labels)] : []),
    ].join("\n\n"),
  );
  return { json: { results, forged }, tables: forged.length === 0 ? tables : [...tables, forgedText(forged)] };
}

// `--only` names scenes, or `families`.
async function measureStages(): Promise<Report> {
  const wanted = new Set(values.only?.split(",") ?? [...sceneKinds, "families"]);
  const scenes: SceneResult[] = [];
  const families: FamilyRun[] = [];
  for (const seed of seeds) {
    const shop = { seed, users: setting.users, period, onProgress };
    for (const scene of sceneKinds) if (wanted.has(scene)) scenes.push(await measureScene(service, scene, shop));
    if (wanted.has("families")) families.push(await measureFamilies(service, shop));
  }
  const text = scenes.length === 0 ? [] : [scenesText(scenes, { ...setting, seeds })];
  return {
    json: { scenes, families: summariseFamilies(families) },
    tables: families.length === 0 ? text : [...text, familiesText(families)],
  };
}

let report: Report;
try {
  report = await (values.scenes ? measureStages() : measureAttackers());
} finally {
  await service.stop();
}
process.stdout.write(`${values.json ? JSON.stringify(report.json, null, 2) : report.tables.join("\n\n\n")}\n`);
