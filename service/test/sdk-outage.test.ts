import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { startService, type Service } from "../src/service.ts";
import { launchBrowser } from "./browser.ts";
import { send, testConfig } from "./harness.ts";
import { Customer, Visit, browserPace, likePeople, patience } from "./shop.ts";

vi.setConfig(browserPace);
// This file has its own database, because its tests stop and start it.
const folder = mkdtempSync(join(tmpdir(), "casehound-sdk-outage-"));
let postgres: EmbeddedPostgres;
let service: Service;
let browser: Browser;

beforeAll(async () => {
  postgres = await EmbeddedPostgres.forService(folder);
  const { user, host, database } = postgres.address;
  const databaseUrl = `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}`;
  service = await startService(testConfig({ databaseUrl }));
  browser = await launchBrowser(likePeople);
});

afterAll(async () => {
  await browser.close();
  await service.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("clickstream: events sent while the database is down arrive once it is back, each exactly once", async () => {
  const customer = await Customer.create(service);
  customer.useClickstream();
  const visit = await Visit.begin(browser);
  await visit.page.goto(`${customer.shop.origin}/login`);
  await customer.expectAll(visit);
  expect(await visit.statuses()).toEqual([200]);

  const seen = visit.posts.length;
  await postgres.stop();
  await visit.signIn("ann");
  await visit.expectKept(["_profile_set", "login"]);
  // The post was rejected, or not sent because the preflight was. It was never reported as stored.
  expect(await visit.statuses(seen)).not.toContain(200);

  postgres = await EmbeddedPostgres.forService(folder);
  await vi.waitFor(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200), patience);
  // The SDK retries once another request has succeeded.
  await visit.signIn("ann");
  await visit.expectKept([]);
  const stored = await customer.expectAll(visit);
  expect(stored.filter((each) => each.type === "login_succeeded")).toHaveLength(2);
});
