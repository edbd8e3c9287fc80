import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { accountColumns } from "../src/db/accounts.ts";
import { CaseListItem } from "../src/domain/case-item.ts";
import { connectTo } from "./launch.ts";

// What the suites on the cluster have sent: scripts/test.ts records it.
const file = process.env["CASEHOUND_RECORD"];

type Recorded = { text: string; values: unknown[] };

const metric = "a metric counts over all tenants";
// Statements that do more than one task on one node, by how they begin, with the reason.
const exceptions: [start: string, reason: string][] = [
  ["with fresh as ( insert into activity_ids", "it counts on the coordinator what one task has inserted"],
  ["with written as ( insert into list_entries", "it counts on the coordinator what one task has written"],
  ["select u.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, u.is_disabled, u.password_hash", "a sign-in names no tenant"],
  ["select coalesce(sum(events), 0) as unscored", metric],
  ["select count(*) as waiting from webhook_deliveries", metric],
  ["select (select count(*) from webhook_deliveries", metric],
  ["select count(*) as count from rule_limits", metric],
  ["select count(*) as count from models where state = 'CHAMPION'", metric],
  ["select count(*) as count from cases where status = 'OPEN' and due_at", metric],
  ["select (select count(*) from notification_mails", metric],
];
const isRowsInserted = /^insert into \w+ (?:as \w+ )?\([^)]+\) select \$\d+::uuid, /;

const source = globSync("service/src/**/*.ts", { cwd: join(import.meta.dirname, "../..") })
  .map((path) => readFileSync(join(import.meta.dirname, "../..", path), "utf8").replaceAll(/\s+/g, " "))
  .join("\n");

// The statements of lists are assembled from parts, so their text is not in the source.
const lists = [Object.keys(CaseListItem.properties).join(", "), accountColumns].map((columns) => `select ${columns} from`);

// The tests send statements of their own. Those of the service are recognized by how they begin.
function isOurs(short: string): boolean {
  const [start = ""] = short.split("$");
  return source.includes(start.trim()) || lists.some((each) => start.startsWith(each));
}

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
function faultOf(short: string, plan: string): string | null {
  if (/Distributed Subplan/.test(plan)) return "a subplan";
  // Only the node that has the rows needs to be up.
  if (/INSERT\/SELECT method: pull to coordinator/.test(plan))
    return isRowsInserted.test(short) ? null : "rows from another node";
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  return tasks.length > 1 || tasks.some((count) => count > 1) ? `${tasks.join(" and ")} tasks` : null;
}

describe.skipIf(file === undefined)("plans on a cluster", () => {
  test("every statement is one task on one node, except those on the list", async () => {
    const client = await connectTo({ connectionString: inject("databaseUrl") });
    const wrong: string[] = [];
    for (const { text, values } of readRecorded()) {
      const short = text.trim().replaceAll(/\s+/g, " ");
      if (!isOurs(short)) continue;
      await client.query("begin");
      const fault = await client.query<{ "QUERY PLAN": string }>(`explain (costs off) ${text}`, values).then(
        ({ rows }) => faultOf(short, rows.map((row) => row["QUERY PLAN"]).join("\n")),
        (error: Error) => error.message,
      );
      await client.query("rollback");
      const isListed = exceptions.some(([start]) => short.startsWith(start));
      if (fault !== null && !isListed) wrong.push(`${fault}: ${short.slice(0, 300)}`);
    }
    await client.end();
    expect(wrong.join("\n")).toBe("");
  });
});
