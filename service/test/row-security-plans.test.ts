import { expect, test, vi } from "vitest";
import { operations } from "../src/api/operations.ts";
import type { Operation } from "../src/api/operation.ts";
import type { Row, TenantDatabase, Transaction } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { useWorld } from "./fault-world.ts";
import { draftOf, sendDraft } from "./faults.ts";
import { useService } from "./harness.ts";

const service = useService({ rowSecurity: "on" });
const shared = useWorld(service);
const rowCount = 20_000;

// Enough rows that a less selective index condition would not be chosen by chance.
async function fill(tenantId: string): Promise<void> {
  const { database } = service.current;
  const texts = [
    `insert into accounts (tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
     select $1::uuid, 'fill-' || n, 'crm-' || n, false, false, false, now(), now()
     from generate_series(1, $2::int) as n`,
    `insert into cases (tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at,
       overall_risk_score, primary_fraud_label, recommended_action, document)
     select $1::uuid, gen_random_uuid(), 'account:fill-' || n, 'fill-' || n, false, 'OPEN', 1, now(), 5, 'Bot', 'MONITOR', '{}'
     from generate_series(1, $2::int) as n`,
    `insert into links (tenant_id, kind, a, b, first_seen, last_seen)
     select $1::uuid, 'account-device', 'fill-' || n, 'device-' || n % 7000, now(), now()
     from generate_series(1, $2::int) as n`,
    `insert into sessions (tenant_id, session_id, website_account_id, started_at, last_at, facts)
     select $1::uuid, 'session-' || n, 'fill-' || n, now(), now(), '{}'
     from generate_series(1, $2::int) as n`,
  ];
  for (const text of texts) await database.transaction((tx) => tx.query(statement(text, [tenantId, rowCount])));
  await database.query(statement("analyze accounts, cases, links, sessions", []));
}

// Records the statements sent for tenants.
function record(): Set<string> {
  const { database } = service.current;
  const forTenant = database.forTenant.bind(database);
  const sent = new Set<string>();
  const noted = (statement: Statement) => {
    sent.add(statement.text);
    return statement;
  };
  const inside = (tx: Transaction): Transaction => ({
    isPatient: tx.isPatient,
    query: <R extends Row>(each: Statement) => tx.query<R>(noted(each)),
  });
  vi.spyOn(database, "forTenant").mockImplementation((tenantId): TenantDatabase => {
    const real = forTenant(tenantId);
    return {
      query: <R extends Row>(each: Statement) => real.query<R>(noted(each)),
      alone: <R extends Row>(each: Statement) => real.alone<R>(noted(each)),
      transaction: (work) => real.transaction((tx) => work(inside(tx))),
      tryOnce: (work) => real.tryOnce((tx) => work(inside(tx))),
    };
  });
  return sent;
}

type Plan = { "Node Type": string; "Relation Name"?: string; "Index Name"?: string; "Index Cond"?: string; Plans?: Plan[] };

function flatten(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}

const named = "(NULLIF(current_setting('casehound.tenant'::text, true), ''::text))::uuid";

// In small tables all indexes cost the same, and the planner picks any of them.
const filled = new Set(["accounts", "cases", "links", "sessions"]);

// Which index reads each table, and with what condition. Both forms of the tenant condition count as the same.
async function scansOf(database: TenantDatabase, text: string): Promise<string[]> {
  const plan = await database.transaction(async (tx) => {
    const run = <R extends Row>(each: string) => tx.query<R>({ name: "", text: each, values: [] });
    for (const way of ["seqscan", "bitmapscan", "hashjoin", "mergejoin"]) await run(`set local enable_${way} = off`);
    // The try-out of a policy reads a plan itself, so remove its own `explain`.
    const query = text.replace(/^\s*explain \(format json\)/, "");
    const [row] = await run<{ "QUERY PLAN": [{ Plan: Plan }] }>(`explain (generic_plan, format json) ${query}`);
    if (!row) throw new Error("no plan was given");
    return row["QUERY PLAN"][0].Plan;
  });
  return flatten(plan)
    .filter((node) => filled.has(node["Relation Name"] ?? ""))
    .map((node) => `${node["Relation Name"]} by ${node["Index Name"]}: ${tenantAsOne(node["Index Cond"] ?? "")}`)
    .toSorted();
}

function tenantAsOne(condition: string): string {
  return condition
    .replaceAll(named, "$0")
    .replaceAll(/tenant_id = \$\d+/g, "tenant_id = $0")
    .replace("((tenant_id = ANY ($1)) AND (tenant_id = $0))", "(tenant_id = ANY ($1))");
}

const isRead = ({ method }: Operation) => method === "GET";
const isErasure = ({ method }: Operation) => method === "DELETE";

test("lock: every operation uses the same indexes with the same conditions as without the lock", async () => {
  const { tenant } = shared.current;
  await fill(tenant.tenantId);
  const sent = record();
  // Clients cannot request approval.
  const writes = operations
    .filter((each) => !isRead(each) && each.id !== "requestApproval")
    .toSorted((a, b) => Number(isErasure(a)) - Number(isErasure(b)));
  for (const operation of [...operations.filter(isRead), ...writes]) {
    const answer = await sendDraft(service.current, draftOf(operation, shared.current));
    expect(answer.status, `${operation.id}: ${answer.text}`).toBeLessThan(300);
  }
  expect((await tenant.call("GET", "/enduseraccounts?crm_account_id=crm-7")).text).toContain("fill-7");
  // Found through the functions that run as the owner, because their conditions are not leakproof.
  expect((await tenant.call("GET", "/search?q=ill-19999")).text).toContain("fill-19999");
  vi.restoreAllMocks();
  const texts = [...sent].filter((text) => !/^\s*(savepoint|release|rollback|set local)/.test(text));
  expect(texts.length).toBeGreaterThan(90);
  const { database } = service.current;
  for (const text of texts) {
    expect(await scansOf(database.forTenant(tenant.tenantId), text), text).toEqual(await scansOf(database, text));
  }
});
