import { escapeLiteral } from "pg";
import { expect, test } from "vitest";
import { countOwnCloses } from "../src/db/approval-needs.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { newTenant, useLab } from "./engine-lab.ts";

const lab = useLab();
const [caseCount, closers, oneIn] = [20_000, 20, 1_000];
const actor = "Ada Smith <ada@shop.example>";
const mailbox = "<ada@shop.example>";

// One close per second. Ada has two names, and one in a thousand closes is hers.
async function seedCloses(tenantId: string): Promise<void> {
  const text = `
    insert into cases (
      tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
      overall_risk_score, primary_fraud_label, recommended_action, document, closer, closed_at
    )
    select $1::uuid, gen_random_uuid(), 'seed:' || n, 'user-' || n, false, 'CLOSED', 2, at - interval '30 days', at, 3, 'Bot',
      'MONITOR', '{}',
      case
        when n % $4::int <> 0 then 'Person <' || n % $3::int || '@shop.example>'
        when n % 2000 = 0 then 'Ada ' || $5::text
        else $6::text
      end,
      at
    from generate_series(1, $2::int) as n
    cross join lateral (select now() - make_interval(secs => n) as at) as made`;
  const values = [tenantId, caseCount, closers, oneIn, mailbox, actor];
  await lab.current.database.transaction((tx) => tx.query(statement(text, values)));
  await lab.current.database.query(statement("analyze cases", []));
}

type Plan = {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
};

function rowsRead({ Plans: inner = [], ...node }: Plan): number {
  const rows = node["Actual Loops"] * (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0));
  return inner.reduce((sum, each) => sum + rowsRead(each), node["Relation Name"] === "cases" ? rows : 0);
}

async function explain({ text, values }: Statement, mode: string): Promise<Plan> {
  const literals = values.map((value) => (value === null ? "null" : escapeLiteral(`${value as string | number}`)));
  return lab.current.database.transaction(async (tx) => {
    const run = <R extends Row>(each: string) => tx.query<R>({ ...statement(each, []), name: "" });
    await run(`set local plan_cache_mode = ${mode}`);
    await run(`prepare counted as ${text}`);
    const [row] = await run<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `explain (analyze, timing off, format json) execute counted(${literals.join(", ")})`,
    );
    await run("deallocate counted");
    if (!row) throw new Error("no plan was given");
    return row["QUERY PLAN"][0].Plan;
  });
}

test("plans: counting a person's closes, under every name, reads hardly more than these", async () => {
  const tenantId = await newTenant(lab.current);
  await seedCloses(tenantId);
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const own = caseCount / oneIn;
  const { database } = lab.current;
  expect(await countOwnCloses(database, tenantId, { actor, mailbox, since })).toBe(own);
  expect(await countOwnCloses(database, tenantId, { actor, mailbox: null, since })).toBe(own / 2);
  for (const each of [mailbox, null]) {
    const sent: Statement[] = [];
    const recorder: Queryable = { query: (asked) => (sent.push(asked), Promise.resolve([])) };
    await countOwnCloses(recorder, tenantId, { actor, mailbox: each, since });
    for (const mode of ["force_custom_plan", "force_generic_plan"])
      expect(rowsRead(await explain(sent[0] ?? statement("", []), mode)), mode).toBeLessThanOrEqual(own + 2 * closers);
  }
});
