import { expect, test } from "vitest";
import { HistoryRoom } from "../src/api/history-room.ts";
import { header, map, useImportCli } from "./cli-import-lab.ts";
import { countRows, daysAgo, statusOf } from "./import-lab.ts";

// As many activities as the command sends at once.
const waitingMax = 1_000;
const { newTenant, write, run } = await useImportCli({ historyRoom: new HistoryRoom(waitingMax) });

const rows = Array.from({ length: waitingMax + 200 }, (_, index) => `${index},${daysAgo(5, index / 10)},ann,shop,10,0`);

test("import: if no more activities may wait, a file in order of time is scored in parts", async () => {
  const tenant = await newTenant();
  const ended = await run(tenant, [write("sorted.csv", [header, ...rows]), ...map, "--no-report"]);
  expect(ended, ended.err).toMatchObject({ code: 0, err: "" });
  expect(ended.out).toContain("activities imported: 1,200; already stored: 0");
  expect(await statusOf(tenant)).toMatchObject({ waiting: 0, is_running: false });
  expect(await countRows(tenant, "activities")).toBe(rows.length);
});

test("import: if no more activities may wait, a file in another order is not scored in parts, and the command says what to do", async () => {
  const tenant = await newTenant();
  const ended = await run(tenant, [write("reversed.csv", [header, ...rows.toReversed()]), ...map, "--no-report"]);
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("Sort it by time, and run the command again") });
  expect(ended.err).not.toContain("run the same command again");
  expect(await statusOf(tenant)).toMatchObject({ waiting: waitingMax, is_running: false });
  const again = await run(tenant, [write("sorted-now.csv", [header, ...rows]), ...map, "--no-report"]);
  expect(again, again.err).toMatchObject({ code: 0 });
  expect(again.out).toContain("activities imported: 200; already stored: 1,000");
  expect(await countRows(tenant, "activities")).toBe(rows.length);
});
