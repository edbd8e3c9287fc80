import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { launchCli, runCli } from "./cli.ts";
import { useImportCli } from "./cli-import-lab.ts";
import type { TestTenant } from "./harness.ts";
import { countRows, daysAgo } from "./import-lab.ts";
import { eventually } from "./process.ts";

const { service, databaseUrl, newTenant, write } = await useImportCli();
const lines = 8_000;
const linesOfDay = 320;

function writeHistory(): string {
  const rows = Array.from({ length: lines }, (_, index) => {
    // Newest first, as in many exports. No two have the same time, because then ids would decide their order, and each tenant has
    // its own ids.
    const occurred_at = daysAgo(1 + Math.floor(index / linesOfDay), -(index % linesOfDay));
    const payment = { amount: 5 + (index % 97), currency: "EUR", payee_id: `p-${index % 50}` };
    const known = index % 40 === 0 ? { fraudulent: true, known_at: occurred_at } : {};
    return JSON.stringify({
      type: "payment",
      occurred_at,
      website_account_id: `c-${index % 400}`,
      order_id: `${index}`,
      ...payment,
      ...known,
    });
  });
  return write("history.jsonl", rows);
}

async function resultOf({ tenantId }: TestTenant): Promise<unknown[]> {
  const text = `
    select a.order_id, a.received_at, a.score, a.decision, l.y, l.known_at
    from activities as a
    left join labels as l using (tenant_id, id_key)
    where a.tenant_id = $1
    order by a.order_id`;
  return service.current.database.query(statement(text, [tenantId]));
}

test("import: an import that is killed again and again, and then completed, gives the same decisions as one run", async () => {
  const file = writeHistory();
  const env = () => ({ DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url });
  const argsFor = ({ slug }: TestTenant) => ["import", file, "--tenant", slug, "--no-report"];
  const [whole, killed] = [await newTenant(), await newTenant()];
  // With the same key, the rings of both tenants have the same bytes.
  await service.current.database.query(
    statement("update tenants set ip_key = 'the same key' where tenant_id = any($1::uuid[])", [
      [whole.tenantId, killed.tenantId],
    ]),
  );
  expect(await runCli(argsFor(whole), env())).toMatchObject({ code: 0 });
  for (const share of [0.1, 0.4, 0.8, 1]) {
    const { child, ended } = launchCli(argsFor(killed), env());
    await eventually(async () => expect(await countRows(killed, "activity_ids")).toBeGreaterThanOrEqual(share * lines));
    child.kill("SIGKILL");
    expect((await ended).code).toBeNull();
  }
  const last = await runCli(argsFor(killed), env());
  expect(last).toMatchObject({
    code: 0,
    out: expect.stringContaining(`activities imported: 0; already stored: ${lines.toLocaleString("en")};`),
  });
  expect(await countRows(killed, "activities")).toBe(lines);
  expect(await resultOf(killed)).toEqual(await resultOf(whole));
  expect(await killed.list()).toEqual([]);
});
