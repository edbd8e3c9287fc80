import { expect, test } from "vitest";
import { findLinks } from "../src/db/links.ts";
import { findBuckets } from "../src/db/metric-buckets.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { findSessions, findStates } from "../src/db/states.ts";
import { newTenant, useLab } from "./engine-lab.ts";

const lab = useLab();

type Lookup = { name: string; key: string[]; find: (tx: Queryable, tenantId: string) => Promise<unknown> };

const lookups: Lookup[] = [
  {
    name: "states",
    key: ["kind = i.kind", "key = i.key"],
    find: (tx, tenantId) => findStates(tx, tenantId, [{ kind: "account", key: "00000000-0000-4000-8000-000000000000" }]),
  },
  {
    name: "sessions",
    key: ["session_id = i.session_id"],
    find: (tx, tenantId) => findSessions(tx, tenantId, ["s1"]),
  },
  {
    name: "links",
    key: ["kind = i.kind", "a = i.a", "b = i.b"],
    find: (tx, tenantId) => findLinks(tx, tenantId, [{ kind: "account-device", a: "u1", b: "d1" }]),
  },
  {
    name: "metrics",
    key: ["level = k.level", "bucket = k.bucket"],
    find: (tx, tenantId) => findBuckets(tx, tenantId, [{ level: "minute", at: 0 }]),
  },
];

// The planner is told to avoid loops, as it does with the statistics of a fresh table.
test.for(lookups)("engine: $name are looked up by their whole key, whatever the statistics", async ({ key, find }) => {
  const tenantId = await newTenant(lab.current);
  const plan: string[] = [];
  await lab.current.database.transaction(async (tx) => {
    await tx.query(statement("set local enable_nestloop = off", []));
    const explaining: Queryable = {
      query: async ({ text, values }) => {
        const rows = await tx.query<{ "QUERY PLAN": string }>(statement(`explain ${text}`, values));
        plan.push(...rows.map((row) => row["QUERY PLAN"]));
        return [];
      },
    };
    await find(explaining, tenantId);
  });
  const [condition = "", ...more] = plan.filter((line) => line.includes("Index Cond:"));
  expect(more).toEqual([]);
  const parts = [...condition.replaceAll("::text", "").matchAll(/\((\w+ = [^()]+)\)/g)].map(([, part]) => part ?? "");
  expect(parts.toSorted()).toEqual([`tenant_id = '${tenantId}'::uuid`, ...key].toSorted());
});
