import { expect, inject, test } from "vitest";
import { startService } from "../service/src/service.ts";
import { within } from "../service/test/backup-lab.ts";
import { TestTenant, testConfig } from "../service/test/harness.ts";
import { createDatabase } from "../service/test/launch.ts";
import { backup, compareMoment } from "./backup.ts";
import { proveShort } from "./prove.ts";

test("proof: a backup under load is one moment of the database and restores completely", async () => {
  const figures = await proveShort(backup);
  expect(figures).toMatchObject({ backups: 2, restores: 2, "restores killed": 1, "damaged files rejected": 60 });
  expect(figures["closes acknowledged under load"]).toBeGreaterThan(5);
  expect(figures["events compared"]).toBeGreaterThan(10);
  expect(figures["tables compared row by row"]).toBeGreaterThan(30);
});

test("proof: detects a copy that lacks an event, a version or an acknowledged change", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const service = await startService(testConfig({ databaseUrl: url }));
  const tenant = await TestTenant.create(service);
  const { case_id } = await tenant.openCase();
  await tenant.put(case_id, { status: "CLOSED", case_version: 1 }, "answered");
  await service.stop();
  const copyOf = { copy: url, original: url };
  expect((await compareMoment(copyOf, ["answered"])).violations).toEqual([]);
  expect((await compareMoment(copyOf, ["never"])).violations).toHaveLength(1);
  await within(url, (client) => client.query("delete from activity_ids"));
  expect((await compareMoment(copyOf, [])).violations).toHaveLength(1);
  await within(url, (client) => client.query("delete from events where event_id = (select max(event_id) from events)"));
  expect((await compareMoment(copyOf, [])).violations.length).toBeGreaterThanOrEqual(2);
  await within(url, (client) => client.query("delete from cases"));
  expect((await compareMoment(copyOf, [])).violations.join()).toContain("no stored reply has a later version than its case");
});
