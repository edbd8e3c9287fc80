import type { Model } from "@casehound/client";
import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { header, map, useImportCli } from "./cli-import-lab.ts";
import { daysAgo } from "./import-lab.ts";
import { numbersFrom } from "./labelled-rows.ts";

const { service, newTenant, write, run } = await useImportCli();

// Frauds have large amounts most of the time, at a payee that is used for them.
function shopRows({ days = 24, perDay = 100 } = {}): string[] {
  const next = numbersFrom(7);
  return Array.from({ length: days * perDay }, (_, index) => {
    const day = days - Math.floor(index / perDay);
    const isFraud = next() < 0.06;
    const amount = (isFraud ? 250 + 500 * next() : 20 + 200 * next()).toFixed(2);
    const at = daysAgo(day, (index % perDay) * 4);
    return `t-${index},${at},c-${Math.floor(next() * 300)},p-${Math.floor(next() * 20)},${amount},${isFraud ? 1 : 0}`;
  });
}

test("import: the report's numbers are those of the stored decisions and labels, and its model is a challenger", async () => {
  const tenant = await newTenant();
  const rows = shopRows();
  const file = write("shop.csv", [header, ...rows]);
  const ended = await run(tenant, [file, ...map, "--known-after", "2", "--json"]);
  expect(ended, ended.err).toMatchObject({ code: 0 });
  const { report, accepted } = JSON.parse(ended.out);
  expect(accepted).toBe(rows.length);
  const frauds = rows.filter((row) => row.endsWith(",1")).length;
  const text = `
    select count(*) filter (where l.y = 1) as frauds,
      count(*) filter (where l.y = 1 and a.score >= 3) as found,
      count(distinct (a.received_at::date, a.website_account_id)) filter (where a.score >= 3) as cases
    from activities as a
    left join labels as l using (tenant_id, id_key)
    where a.tenant_id = $1`;
  const [counted] = await service.current.database.query(statement(text, [tenant.tenantId]));
  expect(counted).toMatchObject({ frauds });
  expect(report).toMatchObject({ ...counted, activities: rows.length, days: 24 });
  const { models } = (await tenant.call("GET", "/models")).json.data as { models: Model[] };
  expect(models).toMatchObject([{ moment: "value", state: "CHALLENGER" }]);
  expect(report.models).toEqual([{ moment: "value", reason: null, model: models[0] }]);
  const measured = models[0]?.figures.held_out;
  expect(measured?.model.average_precision).toBeGreaterThan(measured?.before.average_precision ?? 1);
  expect(await tenant.list()).toEqual([]);
  const shown = await run(tenant, [file, ...map, "--known-after", "2"]);
  expect(shown.out).toContain(`${frauds} known frauds`);
  expect(shown.out).toContain(`find ${report.found.toLocaleString("en")} of ${frauds} known frauds`);
  expect(shown.out).toContain("Its state is challenger.");
});

test("import: with too few frauds, the report says how many a model needs", async () => {
  const own = await newTenant();
  const file = write("few.csv", [header, ...shopRows({ days: 8, perDay: 20 })]);
  const { code, out } = await run(own, [file, ...map, "--known-after", "2"]);
  expect(code).toBe(0);
  expect(out).toMatch(
    /A first model for payments and transfers was not trained\. A model needs at least 50 known frauds; there are \d+\./,
  );
});
