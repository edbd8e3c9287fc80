import { expect, test } from "vitest";
import type { TestTenant } from "./harness.ts";
import { header, map, useImportCli } from "./cli-import-lab.ts";
import { countRows, daysAgo, decidedOf, statusOf } from "./import-lab.ts";
import { listed } from "./labels-lab.ts";

const { newTenant, write, run } = await useImportCli();

async function stateOf(of: TestTenant): Promise<number[]> {
  const tables = ["history", "imports", "activity_ids", "activities", "labels", "events", "model_runs"];
  return Promise.all(tables.map((table) => countRows(of, table)));
}

test("import: a table of payments is checked by a dry run, which changes nothing, and then imported with its frauds", async () => {
  const own = await newTenant();
  const rows = [
    `1,${daysAgo(100)},ann,shop,10,0`,
    `2,${daysAgo(9)},ann,shop,10.5,0`,
    `3,${daysAgo(8)},bob,shop,900,1`,
    `4,${daysAgo(7)},bob,kiosk,3,0`,
  ];
  const file = write("payments.csv", [header, ...rows]);
  const dry = await run(own, [file, ...map, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, err: "" });
  expect(dry.out.split("\n")).toEqual([
    `4 lines: 3 activities, from ${daysAgo(9)} to ${daysAgo(7)}; known frauds: 1; bad lines: 0`,
    "  payment  3",
    expect.stringContaining(`1 of 4 activities are from before ${daysAgo(89).slice(0, 10)} and are left out`),
    "Nothing was imported.",
    "",
  ]);
  expect(await stateOf(own)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  const real = await run(own, [file, ...map, "--no-report"]);
  expect(real).toMatchObject({
    code: 0,
    err: expect.stringContaining("1 of 4 activities are from before"),
    out: "activities imported: 3; already stored: 0; known frauds in the file: 1\n",
  });
  expect([...(await decidedOf(own)).keys()].toSorted()).toEqual(["2", "3", "4"]);
  expect(await listed(own)).toMatchObject([{ activity_id: "3", source: "api", known_at: daysAgo(1) }]);
  expect(await own.list()).toEqual([]);
  const again = await run(own, [file, ...map, "--no-report"]);
  expect(again.out).toContain("activities imported: 0; already stored: 3");
  expect(await countRows(own, "activities")).toBe(3);
  expect(await countRows(own, "model_runs")).toBe(0);
});

test("import: bad lines are named with their numbers, and nothing is imported without --skip-bad", async () => {
  const own = await newTenant();
  const good = { type: "login_succeeded", occurred_at: daysAgo(3), website_account_id: "ann", device_id: "phone" };
  const bad = ["{", JSON.stringify({ ...good, type: "log-in" }), `"${"x".repeat(70_000)}"`];
  const file = write("history.jsonl", [JSON.stringify(good), "", ...bad, JSON.stringify({ ...good, activity_id: "own-id" })]);
  const refused = await run(own, [file]);
  expect(refused.code).toBe(1);
  const lines = refused.out.split("\n");
  expect(lines[0]).toContain("5 lines: 2 activities");
  expect(lines.slice(3)).toEqual([
    expect.stringMatching(/^ {2}line 3: /),
    "  line 4: type is not an allowed value or format",
    "  line 5: is longer than 65,536 characters",
    "Nothing was imported.",
    "",
  ]);
  expect(await stateOf(own)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  const skipped = await run(own, [file, "--skip-bad", "--no-report", "--json"]);
  expect(skipped.code).toBe(0);
  expect(JSON.parse(skipped.out)).toMatchObject({ lines: 5, accepted: 2, duplicates: 0, bad: 3, is_dry_run: false });
  expect([...(await decidedOf(own)).keys()].toSorted()).toEqual([expect.stringMatching(/^import-/), "own-id"]);
});

test("import: a run that was interrupted before it started the scoring is completed by the next one", async () => {
  const own = await newTenant();
  const sent = { activity_id: "1", type: "payment", occurred_at: daysAgo(5), website_account_id: "ann", payee_id: "shop" };
  const activities = [{ ...sent, amount: 10, currency: "EUR", fraudulent: false }];
  expect((await own.call("POST", "/imports", { body: { activities } })).status).toBe(202);
  const file = write("rest.csv", [header, `1,${daysAgo(5)},ann,shop,10,0`, `2,${daysAgo(4)},ann,shop,11,0`]);
  expect((await run(own, [file, ...map, "--no-report"])).out).toContain("activities imported: 1; already stored: 1");
  expect(await statusOf(own)).toMatchObject({ waiting: 0, is_running: false });
  expect(await countRows(own, "activities")).toBe(2);
});

test("import: a missing file, a wrong map and an unknown ending are usage errors", async () => {
  const tenant = await newTenant();
  const file = write("other.csv", ["a,b", "1,2"]);
  expect(await run(tenant, ["/absent.csv"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("is not a file"),
  });
  expect(await run(tenant, [file])).toMatchObject({ code: 2, err: expect.stringContaining("no column type") });
  expect(await run(tenant, [file, "--map", "x=a"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--map must be like"),
  });
  expect(await run(tenant, [write("data.bin", [""])])).toMatchObject({ code: 2, err: expect.stringContaining("--format") });
  expect(await run(tenant, [write("a.jsonl", ["{}"]), "--map", "type=:payment"])).toMatchObject({ code: 2 });
  const cut = write("cut.csv", [header, '"open']);
  expect(await run(tenant, [cut, ...map])).toMatchObject({ code: 1, err: expect.stringContaining("line 2") });
});
