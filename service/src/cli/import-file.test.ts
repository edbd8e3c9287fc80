import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkFile, ImportReader, type Checked } from "./import-file.ts";

const day = "2026-11-01T10:00";

function readerOf(times: string[]): ImportReader {
  const folder = mkdtempSync(join(tmpdir(), "casehound-import-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "history.jsonl");
  writeFileSync(file, times.map((occurred_at) => JSON.stringify({ type: "page_view", occurred_at })).join("\n"));
  const settings = { slug: "shop", nowMs: Date.parse("2026-11-15T10:00:00.000Z"), knownAfterDays: 7 };
  return new ImportReader({ file, format: "jsonl", map: new Map(), settings });
}

const check = (times: string[], keptFrom = `${day}:00.000Z`): Promise<Checked> => checkFile(readerOf(times), keptFrom, () => {});

test("import: times of one second are compared by their value, however many digits they have", async () => {
  const times = [`${day}:00.25Z`, `${day}:00Z`, `${day}:00.5Z`];
  expect(await check(times)).toMatchObject({
    activities: 3,
    from: `${day}:00.000Z`,
    until: `${day}:00.500Z`,
    is_in_order: false,
  });
  expect(await check(times.toSorted((a, b) => a.length - b.length))).toMatchObject({ is_in_order: false });
  expect(await check([`${day}:00Z`, `${day}:00.25Z`, `${day}:00.250Z`])).toMatchObject({ is_in_order: true });
  const keptFrom = `${day}:00.250Z`;
  expect(await check(times, keptFrom)).toMatchObject({ activities: 2, too_old: 1 });
  const sent: string[] = [];
  for await (const batch of readerOf(times).batches(keptFrom)) sent.push(...batch.map(({ occurred_at }) => occurred_at));
  expect(sent).toEqual([times[0], times[2]]);
});
