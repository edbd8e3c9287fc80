import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { startService, type Service } from "../src/service.ts";
import { expectProblem, send, testConfig, type Answer } from "./harness.ts";
import { Site, browserEvent, shop } from "./site.ts";

// This file has its own database, because its tests stop, fill and kill it.
const folder = mkdtempSync(join(tmpdir(), "casehound-collector-"));
let postgres: EmbeddedPostgres;
let service: Service;

beforeAll(async () => {
  postgres = await EmbeddedPostgres.forService(folder);
  const { user, database, host } = postgres.address;
  const databaseUrl = `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}`;
  service = await startService(testConfig({ databaseUrl, roles: new Set(["api", "collector"]) }));
});

afterAll(async () => {
  await service.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

function expectAway(answer: Answer): void {
  const problem = expectProblem(answer, 503, "service-unavailable");
  expect(problem.detail).not.toMatch(/postgres|database|disk|ECONN|trigger/i);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "access-control-allow-origin": shop,
    "access-control-allow-credentials": "true",
    vary: "Origin",
    "retry-after": "5",
  });
}

async function startAgain(): Promise<void> {
  postgres = await EmbeddedPostgres.forService(folder);
}

test("POST and OPTIONS collect 503: while the database is down, the page can read the error, and a resend is stored", async () => {
  const site = await Site.create(service);
  const body = JSON.stringify([browserEvent()]);
  let isAway = true;
  onTestFinished(async () => {
    if (isAway) await startAgain();
  });
  await postgres.stop();
  expectAway(await site.collect(body));
  // Three at once, as the SDK does.
  for (const answer of await Promise.all([1, 2, 3].map(() => site.collect(body)))) expectAway(answer);
  expectAway(await send(service.port, "OPTIONS", `/collect/${site.key}`, { headers: { origin: shop } }));
  await startAgain();
  isAway = false;
  await vi.waitFor(async () => expect((await site.collect(body)).status).toBe(200), 20_000);
  await site.storedOne();
});

test("POST collect 503: while the store is full, no part of a request is stored, and all of it is stored once there is room", async () => {
  const site = await Site.create(service);
  const admin = await service.database.connect();
  onTestFinished(() => admin.end());
  await admin.query(`
    create function fill_disk() returns trigger language plpgsql
    as 'begin raise exception ''could not extend file'' using errcode = ''53100''; end'`);
  await admin.query("create trigger fill_disk before insert on inbox for each row execute function fill_disk()");
  onTestFinished(async () => void (await admin.query("drop function if exists fill_disk cascade")));
  const body = JSON.stringify([browserEvent(), { event_id: "bad" }]);
  expectAway(await site.collect(body));
  expect(await site.counts()).toEqual({});
  await admin.query("drop function fill_disk cascade");
  expect((await site.collect(body)).status).toBe(200);
  await site.storedOne();
  expect(await site.counts()).toEqual({ "no-event-type": 1 });
});

test("POST collect 503: if the store does not accept writes, requests beyond what the process can hold are rejected", async () => {
  const site = await Site.create(service);
  const admin = await service.database.connect();
  onTestFinished(() => admin.end());
  await admin.query("begin");
  await admin.query("lock table inbox in access exclusive mode");
  onTestFinished(async () => void (await admin.query("rollback")));
  const bodies = Array.from({ length: 12 }, () => JSON.stringify([browserEvent()]).padEnd(2 * 1024 * 1024, " "));
  const sending = bodies.map((body) => site.collect(body));
  // The first ones wait for the lock. Those that do not fit are rejected at once.
  const first = await Promise.race(sending);
  expectAway(first);
  await admin.query("rollback");
  const statuses = (await Promise.all(sending)).map((answer) => answer.status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(await site.stored()).toHaveLength(statuses.filter((status) => status === 200).length);
});

test("kill -9 of the database under a flood: every event answered with 200 is stored, and the rest can be sent again", async () => {
  const site = await Site.create(service);
  const events = Array.from({ length: 200 }, () => browserEvent());
  const pid = Number(readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  let answered = 0;
  const statuses = await Promise.all(
    events.map(async (event) => {
      const answer = await site.collect(JSON.stringify([event]));
      if (++answered === 20) process.kill(pid, "SIGKILL");
      if (answer.status !== 200) expectAway(answer);
      return answer.status;
    }),
  );
  await vi.waitFor(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200), 20_000);
  const ids = new Set((await site.stored()).map((each) => each.activity_id));
  const lost = events.filter((event, index) => statuses[index] === 200 && !ids.has(event.event_id));
  expect(lost).toEqual([]);
  await vi.waitFor(() => site.post(events), 20_000);
  expect(await site.stored()).toHaveLength(events.length);
});
