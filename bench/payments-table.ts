import { percent, table, whole, type Row } from "./detection-table.ts";
import { budgets, meanOfWeeks, measureWeek, type WeekFigures } from "./payments-protocol.ts";
import type { Played } from "./payments-service.ts";

export type Measured = { name: string; weeks: WeekFigures[]; mean: WeekFigures; played: Played };
export type Setting = {
  file: string;
  payments: number;
  customers: number;
  customersOfFile: number;
  weeksMoved: number;
  flip: number;
  mistaken: number;
};

// The handbook checks 100 of about 5,000 customers a day.
const cardsPerDay = 100;
const goals = { auc: 0.885, averagePrecision: 0.72, cardPrecision: 0.31 };

export function cardsOf({ customers, customersOfFile }: Setting): number {
  return Math.max(Math.round((cardsPerDay * customers) / customersOfFile), 1);
}

export function measurePlayed(name: string, played: Played, setting: Setting): Measured {
  const weeks = played.rated.map((rated) => measureWeek(rated, cardsOf(setting)));
  return { name, weeks, mean: meanOfWeeks(weeks), played };
}

const three = (value: number | null): string => (value === null ? "" : value.toFixed(3));
const micros = (seconds: number): string => (seconds * 1e6).toFixed(0);

// In one line, so that an interrupted run still shows its figures.
export function weekText({ auc, averagePrecision, cardPrecision, calibrationError }: WeekFigures): string {
  const values = [auc, averagePrecision, cardPrecision, calibrationError].map((value) => value?.toFixed(4) ?? "none");
  return `AUC, average precision, card precision and calibration error ${values.join(", ")}`;
}

// As Markdown.
export function paymentsText(all: readonly Measured[], setting: Setting): string {
  return [headText(setting), scoresText(all, setting), alertsText(all), costText(all), goalsText(all, setting)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function headText({ file, payments, customers, weeksMoved, flip, mistaken }: Setting): string {
  const wrong = [
    ...(flip > 0 ? [`${flip} % of all labels are flipped.`] : []),
    ...(mistaken > 0 ? [`${mistaken} % of the reports name an honest payment instead.`] : []),
  ];
  return [
    `Payments of ${file}: ${whole(payments)} of ${whole(customers)} customers. All times are moved by ${weeksMoved} weeks.`,
    "Labels arrive 7 days after the payment. A model is trained when a test week begins, on at most 90 days.",
    ...wrong,
  ].join(" ");
}

function scoresText(all: readonly Measured[], setting: Setting): string {
  const head = [
    "tenant",
    "test week",
    "payments",
    "frauds",
    "AUC",
    "average precision",
    `card precision at ${cardsOf(setting)}`,
    "calibration error",
  ];
  const rows = all.flatMap(({ name, weeks, mean }) => [
    ...weeks.map((week, index) => rowOf(name, String(index + 1), week)),
    rowOf(name, "mean", mean),
  ]);
  return table(head, rows);
}

function rowOf(name: string, week: string, figures: WeekFigures): Row {
  const { payments, frauds, auc, averagePrecision, cardPrecision, calibrationError } = figures;
  const scores = [auc, averagePrecision, cardPrecision, calibrationError].map(three);
  return [name, week, whole(payments), whole(frauds), ...scores];
}

function alertsText(all: readonly Measured[]): string {
  const head = ["alerts a day, at most", ...all.flatMap(({ name }) => [`${name}: precision`, "recall"])];
  const rows = budgets.map((budget, index): Row => {
    const points = all.map(({ mean }) => mean.alerts[index]);
    return [budget, ...points.flatMap((point) => [percent(point?.precision ?? 0), percent(point?.recall ?? 0)])];
  });
  return `Alerts are payments, not cases. All payments with the same score are alerts together, or none of them.\n\n${table(head, rows)}`;
}

function costText(all: readonly Measured[]): string {
  const head = ["tenant", "CPU per payment: service, µs", "PostgreSQL, µs", "training: s", "CPU, s", "trees", "reports", "cases"];
  const rows = all.map(({ name, played }): Row => {
    const { perEvent, trainings, labels, cases } = played;
    const each = (valueOf: (run: (typeof trainings)[number]) => number) =>
      trainings.map((run) => valueOf(run).toFixed(0)).join(" ");
    const models = [
      each(({ seconds }) => seconds),
      each(({ cpuSeconds }) => cpuSeconds),
      each(({ model }) => model.figures.trees),
    ];
    return [name, micros(perEvent.service), micros(perEvent.postgres), ...models, whole(labels), whole(cases)];
  });
  return `The CPU of the service includes the sender of the payments, which runs in the same process.\n\n${table(head, rows)}`;
}

// Only the whole file can be compared with the published figures.
function goalsText([first]: readonly Measured[], { customers, customersOfFile, flip, mistaken }: Setting): string {
  if (!first || customers < customersOfFile || flip > 0 || mistaken > 0) return "";
  const { auc, averagePrecision, cardPrecision } = first.mean;
  const rows: Row[] = [
    ["AUC", three(auc), three(goals.auc), auc >= goals.auc ? "met" : "missed"],
    [
      "average precision",
      three(averagePrecision),
      three(goals.averagePrecision),
      averagePrecision >= goals.averagePrecision ? "met" : "missed",
    ],
    ["card precision", three(cardPrecision), three(goals.cardPrecision), cardPrecision >= goals.cardPrecision ? "met" : "missed"],
  ];
  return table(["figure", "measured", "goal", ""], rows);
}
