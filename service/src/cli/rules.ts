import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Backtest, NewBacktest, Rule } from "@casehound/client";
import { compileDraft } from "../detection/draft.ts";
import { RuleFault } from "../detection/fault.ts";
import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { Progress } from "./progress.ts";
import { cellText, table } from "./table.ts";

const pollMs = 300;

// Reads an expression, or with @ a file that contains one: alone, or as a member of a JSON object.
function readExpression(given: string): string {
  if (!given.startsWith("@")) return given;
  let text: string;
  try {
    text = readFileSync(given.slice(1), "utf8");
  } catch (cause) {
    throw new UsageFault(`${given.slice(1)} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (!text.trimStart().startsWith("{")) return text.trim();
  try {
    const { expression } = JSON.parse(text) as { expression?: unknown };
    if (typeof expression === "string") return expression;
  } catch {
    // Reported below.
  }
  throw new UsageFault(`${given.slice(1)} contains neither an expression nor a JSON object with the member "expression"`);
}

function compile(expression: string): string[] {
  try {
    return compileDraft(expression).reads;
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    throw new Failure("validation-error", `the expression is not a rule: ${error.message}`);
  }
}

async function test({ positionals }: { positionals: string[] }): Promise<Outcome> {
  const reads = compile(readExpression(positionals[0] ?? ""));
  return { result: { is_valid: true, reads }, text: `valid; the rule reads ${reads.join(", ") || "nothing"}` };
}

async function list({ client }: ApiCall): Promise<Outcome> {
  const result = await client.listRules();
  const lines = result.rules.map((rule: Rule) => [rule.rule_id, rule.state, rule.rule_version, rule.label, rule.expression]);
  return { result, text: table(["rule", "state", "version", "label", "expression"], lines) };
}

async function backtest({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const expression = readExpression(positionals[0] ?? "");
  compile(expression);
  const days = readWhole(options, "days", { least: 1, most: 90, fallback: 30 });
  const label = textOption(options, "label");
  const asked = { expression, days, ...(label !== undefined && { label }) } as NewBacktest;
  const progress = new Progress();
  let found: Backtest = await client.createBacktest(asked);
  while (found.status === "QUEUED" || found.status === "RUNNING") {
    await sleep(pollMs);
    found = await client.getBacktest(found.backtest_id);
    progress.show(() => `${found.status.toLowerCase()}: ${found.progress.percent} % of ${days} days`);
  }
  progress.clear();
  if (found.status !== "DONE") throw new Failure("internal-error", `the backtest is ${found.status}: ${cellText(found.fault)}`);
  const facts = Object.entries(found.result ?? {}).flatMap(([name, value]) =>
    typeof value === "number" ? [[name, rounded(value)]] : [],
  );
  const text = [`${found.backtest_id} over ${days} days`, table(["figure", "value"], facts)].join("\n");
  return { result: found, text };
}

// Rounded for people. --json prints every digit.
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(3));
}

export const ruleCommands: Command[] = [
  {
    name: "rules list",
    usage: "rules list",
    summary: "lists the tenant's rules",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(list),
  },
  {
    name: "rules test",
    usage: "rules test <expression|@file>",
    summary: "checks whether an expression is a valid rule, and says what is wrong if not",
    positionals: { min: 1, max: 1 },
    options: {},
    wants: null,
    run: test,
  },
  {
    name: "rules backtest",
    usage: "rules backtest <expression|@file> [--days <n>] [--label <label>]",
    summary: "runs a rule on the activity of past days",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      days: { type: "string", describe: "how many days back, 1 to 90 (default 30)" },
      label: { type: "string", describe: "the label that the rule would give" },
    },
    wants,
    run: overApi(backtest),
  },
];
