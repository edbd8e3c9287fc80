import { afterEach, beforeAll, expect, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { detectBatch, type Detector } from "../src/engine/detect.ts";
import { decisionsOf, drain, labDetector, newTenant, snapshot, startEngine, store, useLab, waiting } from "./engine-lab.ts";
import { landEnrichment, tellStory } from "./engine-story.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const enrichment = landEnrichment();
type Story = ReturnType<typeof tellStory>;
const stories = [tellStory("one", 660), tellStory("two", 120), tellStory("three", 20)];

let alone: Record<string, string[]>[];
beforeAll(async () => {
  expect(stories[0]?.length).toBeGreaterThan(2_000);
  alone = [];
  for (const story of stories) {
    const tenantId = await scoreAlone(story);
    alone.push(await snapshot(lab.current, tenantId));
    const fired = new Set([...(await decisionsOf(lab.current, tenantId)).values()].flatMap(({ rules }) => rules));
    expect(fired.size).toBeGreaterThanOrEqual(10);
  }
});

async function scoreAlone(story: Story): Promise<string> {
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, story);
  expect(await drain(labDetector(lab.current.database, { enrichment }), tenantId)).toBe(story.length);
  return tenantId;
}

async function snapshotOfOne(story: Story): Promise<Record<string, string[]>> {
  return snapshot(lab.current, await scoreAlone(story));
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

// As in separate processes: with their own connections, rules and caches.
function newEngines(count: number): Detector[] {
  return Array.from({ length: count }, () => {
    const database = new Database({ connectionString: lab.current.url });
    stops.push(() => database.end());
    return labDetector(database, { enrichment: landEnrichment() });
  });
}

// All engines ask for work all the time. Returns how much each scored, and how often one had to leave the work to another.
async function drainTogether(engines: Detector[], tenantId: string): Promise<{ scored: number[]; refused: number }> {
  const scored = engines.map(() => 0);
  let refused = 0;
  const run = async (detector: Detector, own: number) => {
    while ((await waiting(lab.current, tenantId)) > 0) {
      const pass = await detectBatch(detector, tenantId);
      if (!pass) refused++;
      scored[own] = (scored[own] ?? 0) + (pass?.scored ?? 0);
    }
  };
  await Promise.all(engines.map(run));
  return { scored, refused };
}

test.each([2, 3])("engines: %i concurrent engines on one tenant store exactly what one engine stores", async (count) => {
  const [story = []] = stories;
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, story);
  const { scored, refused } = await drainTogether(newEngines(count), tenantId);
  expect(scored.reduce((sum, each) => sum + each, 0)).toBe(story.length);
  expect(refused).toBeGreaterThan(0);
  expect(await snapshot(lab.current, tenantId)).toEqual(alone[0]);
});

// How many page activities a complete engine scores at once depends on how fast the machine is, and so does their place among
// server activities. So this story has servers alone.
test("engines: three complete engines on several tenants store for each what one engine stores", async () => {
  const told = stories.map((story) => story.filter(({ origin }) => origin === "server"));
  const tenants = await Promise.all(told.map(() => newTenant(lab.current)));
  // Store everything before an engine runs. Otherwise it would take the first half and form other batches.
  await Promise.all(tenants.map((tenantId, index) => store(lab.current, tenantId, told[index] ?? [])));
  const engines = [0, 1, 2].map(() => startEngine(lab.current, { enrichment: landEnrichment() }));
  stops.push(...engines.map(({ stop }) => stop));
  for (const tenantId of tenants) await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
  // Otherwise they would score the tenants of the comparison too.
  await Promise.all(engines.map(({ stop }) => stop()));
  for (const [index, tenantId] of tenants.entries()) {
    expect(await snapshot(lab.current, tenantId)).toEqual(await snapshotOfOne(told[index] ?? []));
  }
  expect(engines.flatMap(({ failures }) => failures)).toEqual([]);
});
