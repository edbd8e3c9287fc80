import type { Moment } from "../../domain/label.ts";
import { momentOf } from "../../domain/moment.ts";
import type { Thresholds } from "../../domain/rule.ts";
import type { FeatureValue } from "../catalogue.ts";
import { findPlaceOf, type FieldSlot, type RuleContext } from "../vector.ts";
import { explain, explainerOf, type Explainer } from "./explain.ts";
import { encodeModel } from "./format.ts";
import { forestOf, sumOfTrees, type Forest } from "./predict.ts";
import { startOf } from "./prior.ts";
import { readable, type Model } from "./trees.ts";

const shortIdCharacters = 12;

// A model that is ready to rate events.
export type ServedModel = {
  // The first characters of the model's id.
  shortId: string;
  moment: Moment;
  model: Model;
  forest: Forest;
  slots: readonly (FieldSlot | undefined)[];
  explainer: () => Explainer;
};

// The models of a tenant. A challenger rates events too, but its rating is only stored. `released`: the rules whose scores a model
// may lower.
export type Serving = {
  champions: Partial<Record<Moment, ServedModel>>;
  challengers: Partial<Record<Moment, ServedModel>>;
  released: ReadonlySet<string>;
};

export const noModels: Serving = { champions: {}, challengers: {}, released: new Set() };

export function serve(model: Model, moment: Moment, id = encodeModel(model).id): ServedModel {
  const forest = forestOf(model.trees);
  let explainer: Explainer | undefined;
  return {
    shortId: shortIdOf(id),
    moment,
    model,
    forest,
    slots: forest.fields.map(findPlaceOf),
    // Created on first use, because a model rates thousands of events before one is explained.
    explainer: () => (explainer ??= explainerOf(model.trees)),
  };
}

export function shortIdOf(id: string): string {
  return id.slice(0, shortIdCharacters);
}

// The moment of an event, or null if models do not rate it. Models learn from what servers report, so they rate nothing else.
export function ratedMoment({ event }: RuleContext, source: string): Moment | null {
  return source === "server" && typeof event["type"] === "string" ? momentOf(event["type"]) : null;
}

function vectorIn({ slots }: ServedModel, context: RuleContext): Float32Array {
  const vector = new Float32Array(slots.length);
  for (let index = 0; index < slots.length; index++) {
    const slot = slots[index];
    vector[index] = slot ? numberOf(context[slot.group][slot.key]) : NaN;
  }
  return vector;
}

// A text counts as missing, because it has no order.
export function numberOf(value: FeatureValue | object | undefined): number {
  if (typeof value === "number") return readable(value);
  return typeof value === "boolean" ? Number(value) : NaN;
}

// Returns the log-odds that the model gives to an event. `rules` is the sum of the rules and the log-in ratio.
export function rate(served: ServedModel, context: RuleContext, rules: number): number {
  return startOf(served.model.prior, rules) + sumOfTrees(served.forest, vectorIn(served, context));
}

// A model whose part is this far below zero uses half of the room that it has within a score.
const halfOfRoom = 2;

// Returns the part of a model that may not lower the score of the rules. Within that score it may still put one event before
// another. Otherwise all events for which the same rule fired would have the same log-odds.
export function heldPart(part: number, rules: number, thresholds: Thresholds): number {
  const least = leastFor(rules, thresholds);
  if (part >= 0 || least === undefined) return thousandths(part);
  // Rounded up, so that the sum does not fall below the threshold.
  return Math.ceil(((rules - least) * 1000 * part) / (halfOfRoom - part)) / 1000 || 0;
}

// The threshold of the score that the rules give, or undefined for score 1.
export function leastFor(rules: number, { score_2, score_3, score_4, score_5 }: Thresholds): number | undefined {
  return [score_5, score_4, score_3, score_2].find((threshold) => rules >= threshold);
}

export type ModelPart = [name: string, logOdds: number];
export const partNames = { base: "model.base", rules: "model.rules", other: "model.other", held: "model.held" };
const fieldsShown = 6;

// Splits the model's part of the log-odds, in thousandths: the base, the adjustment of the rules' sum, the fields with the
// largest parts, all other fields, and what the model may not subtract because of a rule. They sum to `part`. Rounding errors are
// added to the other fields.
export function partsOf(
  served: ServedModel,
  context: RuleContext,
  { rules, part }: { rules: number; part: number },
): ModelPart[] {
  const { prior } = served.model;
  const vector = vectorIn(served, context);
  const { base, parts } = explain(served.explainer(), vector);
  const raw = startOf(prior, rules) + sumOfTrees(served.forest, vector) - rules;
  const largest = parts
    .map(([code, logOdds]): ModelPart => [findPlaceOf(code)?.name ?? "", thousandths(logOdds)])
    .filter(([name, logOdds]) => name !== "" && logOdds !== 0)
    .toSorted(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .slice(0, fieldsShown);
  const shown: ModelPart[] = [
    [partNames.base, thousandths(prior.a + base)],
    [partNames.rules, thousandths((prior.b - 1) * rules)],
    ...largest,
    [partNames.held, thousandths(part - thousandths(raw))],
  ];
  const other = thousandths(part - shown.reduce((sum, [, logOdds]) => sum + logOdds, 0));
  return [...shown, [partNames.other, other] as ModelPart].filter(([, logOdds]) => logOdds !== 0);
}

export function thousandths(logOdds: number): number {
  // Not -0, because it is stored as JSON.
  return Math.round(logOdds * 1000) / 1000 || 0;
}
