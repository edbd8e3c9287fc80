import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { runCli, type Ended } from "./cli.ts";
import { TestTenant } from "./harness.ts";
import { listed, paymentOf, rowsOf, sendScored } from "./labels-lab.ts";
import { createDatabase } from "./launch.ts";
import { useOwnService } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "casehound-labels-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const databaseUrl = await createDatabase(inject("databaseUrl"));
const service = useOwnService({ databaseUrl, roles: new Set(["api"]) });

async function tenantWith(count: number): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  await sendScored(
    tenant,
    Array.from({ length: count }, (_, index) => paymentOf({ order_id: `o-${index}` })),
  );
  return tenant;
}

function write(name: string, lines: string[]): string {
  const file = join(folder, name);
  writeFileSync(file, lines.join("\n"));
  return file;
}

function run(tenant: TestTenant, args: string[]): Promise<Ended> {
  const env = { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url };
  return runCli(["labels", "import", ...args, "--tenant", tenant.slug], env);
}

test("labels import: a file of chargebacks is stored, a second run changes nothing, and a dry run sends nothing", async () => {
  const tenant = await tenantWith(3);
  const rows = ["o-0;2026-05-01;no\nmatter", "o-1;2026-05-02;x", "absent;2026-05-02;x", "o-2;yesterday;x", ";;"];
  const file = write("chargebacks.csv", ["OrderRef;Booked;Text", ...rows.map((row) => row.replace(/([^;]*\n[^;]*)$/, '"$1"'))]);
  const map = ["--map", "order_id=OrderRef,known_at=Booked"];
  const dry = await run(tenant, [file, ...map, "--dry-run"]);
  expect(dry).toMatchObject({ code: 1, out: expect.stringContaining("3 of 5 rows are labels; nothing was sent") });
  expect(await rowsOf(tenant)).toEqual([]);
  const first = await run(tenant, [file, ...map]);
  expect(first.code).toBe(1);
  expect(first.out.split("\n")).toEqual([
    "5 rows: 2 labels stored, 0 unchanged, 1 not found, 2 bad",
    "not found:",
    "  line 5: absent",
    "bad:",
    '  line 6 "yesterday" is not a time: use YYYY-MM-DD or YYYY-MM-DDTHH:mm:ssZ',
    "  line 7 names neither an activity nor an order",
    "",
  ]);
  const labels = await listed(tenant);
  expect(labels.map(({ order_id, known_at }) => [order_id, known_at]).toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1))).toEqual(
    [
      ["o-0", "2026-05-01T00:00:00.000Z"],
      ["o-1", "2026-05-02T00:00:00.000Z"],
    ],
  );
  expect((await run(tenant, [file, ...map])).out).toContain("0 labels stored, 2 unchanged, 1 not found, 2 bad");
  expect(await listed(tenant)).toEqual(labels);
});

test("labels import: several batches are sent, and the report names the first twenty that were not found", async () => {
  const tenant = await tenantWith(2);
  const rows = Array.from({ length: 2_500 }, (_, index) => `o-${index}`);
  const file = write("many.csv", ["order_id", ...rows]);
  const { code, out } = await run(tenant, [file, "--json"]);
  expect(code).toBe(0);
  const report = JSON.parse(out) as { not_found_first: { line: number; id: string }[] };
  expect(report).toMatchObject({ rows: 2_500, stored: 2, unchanged: 0, not_found: 2_498, bad: 0, is_dry_run: false });
  expect(report.not_found_first).toHaveLength(20);
  expect(report.not_found_first[0]).toEqual({ line: 4, id: "o-2" });
});

test("labels import: a missing file, a wrong map and a file without columns are usage errors", async () => {
  const tenant = await tenantWith(1);
  expect(await run(tenant, [join(folder, "absent.csv")])).toMatchObject({ code: 2 });
  const file = write("other.csv", ["a,b", "1,2"]);
  expect((await run(tenant, [file])).err).toContain("no column activity_id or order_id");
  expect((await run(tenant, [file, "--map", "order=a"])).err).toContain("--map must be like");
  const cut = write("cut.csv", ["order_id", "o-0", '"open']);
  expect(await run(tenant, [cut])).toMatchObject({ code: 1, err: expect.stringContaining("line 3") });
});
