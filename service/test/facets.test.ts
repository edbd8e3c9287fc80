import { expect, test } from "vitest";
import { facetOf, openFacets, scoreOf } from "../src/db/facets.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { labels } from "../src/domain/finding.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

const combinations = (["OPEN", "CLOSED"] as const).flatMap((status) =>
  [false, true].flatMap((isBlocked) =>
    labels.flatMap((label) => [1, 2, 3, 4, 5].map((score) => ({ status, isBlocked, label, score }))),
  ),
);

test("facets: the database computes every combination as the code does, and each has its own number", async () => {
  const { tenantId } = await TestTenant.create(service.current);
  const text = `
    insert into cases (
      tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at,
      overall_risk_score, primary_fraud_label, recommended_action, document
    )
    select $1::uuid, gen_random_uuid(), 'seed:' || g.n, 'user-' || g.n, g.blocked, g.status, 1, now(), g.score, g.label, 'MONITOR', '{}'
    from unnest($2::boolean[], $3::text[], $4::smallint[], $5::text[]) with ordinality as g (blocked, status, score, label, n)`;
  const of = <K extends keyof (typeof combinations)[number]>(name: K) => combinations.map((each) => each[name]);
  await service.current.database.query(statement(text, [tenantId, of("isBlocked"), of("status"), of("score"), of("label")]));
  const rows = await service.current.database.query<{ place: number; facet: number }>(sql`
    select substr(subject, 6)::int as place, facet from cases where tenant_id = ${tenantId} order by place`);
  expect(rows.map(({ facet }) => facet)).toEqual(combinations.map(facetOf));
  expect(new Set(rows.map(({ facet }) => facet)).size).toBe(combinations.length);
});

test("facets: the number shows the score, whether the case is open and whether its account is blocked", () => {
  for (const each of combinations) {
    const facet = facetOf(each);
    expect(scoreOf(facet)).toBe(each.score);
    expect(facet < openFacets.end).toBe(each.status === "OPEN");
    const isOpenAndBlocked = facet >= openFacets.blockedFrom && facet < openFacets.end;
    expect(isOpenAndBlocked).toBe(each.status === "OPEN" && each.isBlocked);
  }
});
