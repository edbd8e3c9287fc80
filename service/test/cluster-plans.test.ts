import { readFileSync } from "node:fs";
import { describe, expect, inject, test } from "vitest";
import { connectTo } from "./launch.ts";

// What the suites on the cluster have sent: scripts/test.ts records it.
const file = process.env["CASEHOUND_RECORD"];

type Recorded = { text: string; values: unknown[] };

// Statements that do more than one task on one node, by how they begin, with the reason.
const exceptions: [start: string, reason: string][] = [];

function readRecorded(): Recorded[] {
  const lines = readFileSync(file ?? "", "utf8")
    .trim()
    .split("\n");
  const all = lines.map((line) => JSON.parse(line) as Recorded);
  return [...new Map(all.map((each) => [each.text, each])).values()].filter(({ text }) =>
    /^\s*(with|select|insert|update|delete)\b/i.test(text),
  );
}

// Returns what is wrong with the plan, or null.
function faultOf(plan: string): string | null {
  if (/Distributed Subplan/.test(plan)) return "a subplan";
  if (/INSERT\/SELECT method/.test(plan)) return "rows that go through the coordinator";
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  return tasks.length > 1 || tasks.some((count) => count > 1) ? `${tasks.join(" and ")} tasks` : null;
}

describe.skipIf(file === undefined)("plans on a cluster", () => {
  test("every statement is one task on one node, except those on the list", async () => {
    const client = await connectTo({ connectionString: inject("databaseUrl") });
    const wrong: string[] = [];
    for (const { text, values } of readRecorded()) {
      await client.query("begin");
      const fault = await client.query<{ "QUERY PLAN": string }>(`explain (costs off) ${text}`, values).then(
        ({ rows }) => faultOf(rows.map((row) => row["QUERY PLAN"]).join("\n")),
        (error: Error) => error.message,
      );
      await client.query("rollback");
      const short = text.trim().replaceAll(/\s+/g, " ");
      const isListed = exceptions.some(([start]) => short.startsWith(start));
      if (fault !== null && !isListed) wrong.push(`${fault}: ${short.slice(0, 300)}`);
    }
    await client.end();
    expect(wrong).toEqual([]);
  });
});
