import { afterAll, beforeAll, expect, test } from "vitest";
import { HistoryRoom } from "../src/api/history-room.ts";
import { clock } from "../src/clock.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { openLog } from "../src/log.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, testConfig, useOwnDatabase, type Answer } from "./harness.ts";
import { countRows, daysAgo, importAll, pastOf, scoreHistory } from "./import-lab.ts";
import { eventually } from "./process.ts";

const waitingMax = 50;
const databaseUrl = useOwnDatabase("history_room");
let service: Service;

beforeAll(async () => {
  const world = { clock, historyRoom: new HistoryRoom(waitingMax) };
  service = await startService(testConfig({ databaseUrl, roles: new Set(["api"]) }), openLog("silent"), world);
});
afterAll(() => service.stop());

const newTenant = () => TestTenant.create(service);
const past = (count: number) => Array.from({ length: count }, () => pastOf({ type: "page_view", occurred_at: daysAgo(2) }));
const post = (tenant: TestTenant, count: number) => tenant.call("POST", "/imports", { body: { activities: past(count) } });

function expectNoRoom(answer: Answer): void {
  expect(expectProblem(answer, 429, "rate-limited").detail).toContain(`At most ${waitingMax} activities`);
  expect(answer.headers.get("retry-after")).toBe("300");
}

test("POST imports 429: a tenant with as much waiting history as is allowed must start its import first; others may send", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  await importAll(tenant, past(30));
  expectNoRoom(await post(tenant, 21));
  expect(await countRows(tenant, "history")).toBe(30);
  expect(await countRows(tenant, "activity_ids")).toBe(30);
  await importAll(tenant, past(20));
  expectNoRoom(await post(tenant, 1));
  expectNoRoom(await post(other, 51));
  await importAll(other, past(50));
  expect(await scoreHistory(tenant)).toBe(50);
  await importAll(tenant, past(50));
  expectNoRoom(await post(tenant, 1));
});

const isStored = ({ status }: Answer) => status === 202;

test("POST imports 429: requests at the same time do not exceed the limit together", async () => {
  const tenant = await newTenant();
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(tenant, 20)));
  expect(answers.filter(isStored)).toHaveLength(2);
  for (const answer of answers.filter((each) => !isStored(each))) expectNoRoom(answer);
  expect(await countRows(tenant, "history")).toBe(40);
});

test("POST imports 429: what another request is still storing counts, until that request ends", async () => {
  const tenant = await newTenant();
  const slow = past(30);
  await importAll(tenant, slow.slice(0, 1));
  const waits = sql`select 1 as found from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const first = await service.database.transaction(async (tx) => {
    // The first request cannot store its events while this transaction has their counter.
    await tx.query(sql`select 1 as locked from event_counters where tenant_id = ${tenant.tenantId} for update`);
    const sent = tenant.call("POST", "/imports", { body: { activities: slow } });
    await eventually(async () => expect(await service.database.query(waits)).not.toEqual([]));
    expectNoRoom(await post(tenant, 30));
    return { sent };
  });
  expect((await first.sent).json.data).toMatchObject({ accepted: 29, duplicates: 1 });
});

test("waiting history: a request that fails takes no room from the next one", async () => {
  const { tenantId } = await newTenant();
  const room = new HistoryRoom(waitingMax);
  const store = (work: () => Promise<string>) => room.store(service.database, tenantId, waitingMax, work);
  await expect(store(() => Promise.reject(new Error("not stored")))).rejects.toThrow("not stored");
  expect(await store(() => Promise.resolve("stored"))).toBe("stored");
});
