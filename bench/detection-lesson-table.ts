import { knownAfterDays, type Lesson } from "./detection-learning.ts";
import type { KindSummary } from "./detection-summary.ts";
import { percent, table, whole, type Row } from "./detection-table.ts";

// What the models learned from, and how well they did on the days that were held out from their training.
export function lessonsText(lessons: readonly Lesson[], labels: number): string {
  const rows = lessons.map(({ seed, atMs, moment, run }): Row => {
    const place = [seed, new Date(atMs).toISOString().slice(0, 10), moment];
    if ("reason" in run) return [...place, "", "", "", "", run.reason];
    const { frauds, rows: learned, trees, held_out } = run.model.figures;
    const precisions = held_out && [held_out.before.average_precision, held_out.model.average_precision];
    const compared = precisions ? precisions.map((each) => each?.toFixed(2) ?? "").join(" to ") : "too few frauds";
    return [...place, frauds, whole(learned), trees, run.seconds.toFixed(0), compared];
  });
  const head = [
    "simulated shop",
    "trained on",
    "moment",
    "frauds",
    "activities",
    "trees",
    "seconds",
    "held-out average precision",
  ];
  return (
    `Models of the shops. Frauds were reported ${knownAfterDays} days after they happened: ${whole(labels)} activities in all. ` +
    "The last column compares the rules, or the model before, with the new model on the last days before the training.\n\n" +
    table(head, rows)
  );
}

export function comparedText(kinds: readonly KindSummary[]): string {
  const rows = kinds.map(({ kind, attacks, rulesAt1, at1 }): Row => [kind, attacks, percent(rulesAt1), percent(at1)]);
  return (
    "Share of attacks caught by challenging 1 % of genuine sessions, in the same shops: by the rules and the likelihood ratio " +
    `alone, and with the model's part.\n\n${table(["simulated attack", "attacks", "rules at 1 %", "with models at 1 %"], rows)}`
  );
}
