// What a statement costs the database.
import { escapeLiteral } from "pg";
import type { Row, TenantDatabase } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Total Cost": number;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: Plan[];
};
export type PlanMode = "force_custom_plan" | "force_generic_plan";

// A prepared statement first runs with a plan for its values, and later with a generic plan.
export async function explainFor(database: TenantDatabase, sent: Statement, mode: PlanMode): Promise<Plan> {
  const values = sent.values.map((value) => escapeLiteral(Array.isArray(value) ? `{${value.join(",")}}` : String(value)));
  return database.transaction(async (tx) => {
    const run = <R extends Row>(text: string) => tx.query<R>({ ...statement(text, []), name: "" });
    await run(`set local plan_cache_mode = ${mode}`);
    await run(`prepare listed as ${sent.text}`);
    const [row] = await run<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `explain (analyze, buffers, timing off, format json) execute listed(${values.join(", ")})`,
    );
    await run("deallocate listed");
    if (!row) throw new Error("no plan was given");
    return row["QUERY PLAN"][0].Plan;
  });
}

export function flatten(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}

export type Cost = { nodeTypes: string[]; branches: number; rowsRead: number; blocksRead: number };

export function costOf(plan: Plan): Cost {
  const nodes = flatten(plan);
  const scans = nodes.filter((node) => node["Relation Name"] === "cases");
  const rows = scans.map((scan) => scan["Actual Loops"] * (scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)));
  return {
    nodeTypes: [...new Set(nodes.map((node) => node["Node Type"]))],
    branches: scans.length,
    rowsRead: rows.reduce((sum, each) => sum + each, 0),
    blocksRead: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
  };
}
