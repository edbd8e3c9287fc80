import { problemOf, type Answer } from "./answer.ts";
import { breakRule, type Broken, type Refusal } from "./breaking.ts";
import { askWithoutEffect, type Asked, type Context } from "./context.ts";
import { nameOf, rulesOf, type Rule } from "./document.ts";
import { bytesOf } from "./request.ts";
import { validRequest } from "./valid.ts";

const kind = "one rule broken";
const waysInAll = 5_000;

// Operations whose fields depend on each other: one wrong field may make another wrong too.
const dependent = new Set(["updateCase", "updateThresholds", "checkApproval", "requestApproval"]);

// Breaks every rule of every schema in the document in each known way, then with other values until enough were sent. If fewer
// requests are wanted than there are ways, it uses one way per rule.
export async function breakRules(context: Context, requests: number): Promise<void> {
  const { operations, ledger } = context;
  const rules = operations.flatMap(rulesOf);
  const { asked, unbroken } = askedOf(context, rules, requests < waysInAll ? 1 : Infinity);
  const reasons = Map.groupBy(unbroken, ({ reason }) => reason);
  ledger.add("operations in the document", operations.length);
  ledger.add("rules in the document", rules.length);
  ledger.add("rules broken", rules.length - unbroken.length);
  for (const [reason, those] of reasons) ledger.add(`rules not broken: ${reason}`, those.length);
  await askWithoutEffect(context, kind, asked);
  const breakable = rules.filter((rule) => !unbroken.some((each) => each.rule === rule));
  for (let sent = asked.length; sent < requests;) {
    const again = askedOf(context, breakable, Infinity).asked.slice(0, requests - sent);
    await askWithoutEffect(context, kind, again);
    sent += again.length;
  }
}

type Unbroken = { rule: Rule; reason: string };

function askedOf(
  { world, pool, ledger, random }: Context,
  rules: Rule[],
  waysMax: number,
): { asked: Asked[]; unbroken: Unbroken[] } {
  const asked: Asked[] = [];
  const unbroken: Unbroken[] = [];
  for (const rule of rules) {
    const broken = breakRule(rule, validRequest(rule.operation, world), pool);
    if (typeof broken === "string") unbroken.push({ rule, reason: broken });
    else if (broken.length === 0) ledger.violate(kind, `nothing breaks ${nameOf(rule)}`);
    else asked.push(...(waysMax === 1 ? [random.pick(broken)] : broken).map((each) => toAsked(rule, each)));
  }
  return { asked, unbroken };
}

function toAsked(rule: Rule, { request, refusal }: Broken): Asked {
  const isAlone = !dependent.has(rule.operation.id);
  return { bytes: bytesOf(request), about: nameOf(rule), judge: (answer) => refusalFault(answer, refusal, isAlone) };
}

export function refusalFault({ status, text }: Answer, refusal: Refusal, isAlone = true): string | null {
  const problem = problemOf(text);
  const wanted = `expected ${refusal.status} ${refusal.type}`;
  if (status !== refusal.status || problem?.type !== refusal.type) return wanted;
  const { field, inDetail } = refusal;
  if (inDetail !== undefined && !problem.detail.includes(inDetail)) return `${wanted} with ${inDetail} in the detail`;
  if (field === undefined) return null;
  const fields = (problem.errors ?? []).map((each) => each.field);
  return fields.includes(field) && (fields.length === 1 || !isAlone) ? null : `${wanted} for the field ${field} only`;
}
