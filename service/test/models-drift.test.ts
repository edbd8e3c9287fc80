import { expect, test } from "vitest";
import type { Figures, Model } from "../src/domain/model.ts";
import { measureDrift, watchChampion } from "../src/engine/drift.ts";
import { ThreadMeasurer, type DriftJob } from "../src/engine/measuring.ts";
import { insertDecided, noonBefore } from "./decided.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { amountModel, insertTestModel, noFigures } from "./models-lab.ts";
import { labelAs } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("models_drift"), roles: new Set(["api"]) });
const profile = { "02": { limits: [10, 20], shares: [0.5, 0.4, 0.1, 0] } };
const weekMinutes = 7 * 24 * 60;

// `rules` is what the rules alone give. The model adds 3.
type Rated = { amount: number; score: number; ageMinutes?: number; rules?: number; account?: string };

// A champion that has rated these payments.
async function champion(payments: Rated[], figures: Partial<Figures> = {}) {
  const tenant = await TestTenant.create(service.current);
  const id = await insertTestModel(tenant, { model: amountModel(), figures: { ...noFigures, profile, ...figures } });
  await insertDecided(
    tenant,
    payments.map(({ amount, score, ageMinutes = weekMinutes, rules = 0, account }, index) => ({
      activity_id: `p-${index}`,
      type: "payment",
      website_account_id: account ?? `a-${index}`,
      score,
      decision: {
        v: 1,
        l: rules + 3,
        m: [id.slice(0, 12), 3] as [string, number],
        f: { "event.type": "payment", "event.value": amount, "account.age_minutes": ageMinutes },
      },
    })),
  );
  return { tenant, id };
}

type Watched = Awaited<ReturnType<typeof champion>>;

async function watch({ tenant, id }: Watched) {
  const now = new Date().toISOString();
  const watching = { tenantId: tenant.tenantId, modelId: id, now };
  // Two engines at the same time, and one of them again.
  const { database } = service.current;
  const engine = { database, measurer: { watch: (job: DriftJob) => measureDrift(database, job) } };
  await Promise.all([watchChampion(engine, watching), watchChampion(engine, watching)]);
  await watchChampion(engine, watching);
  const model: Model = (await tenant.call("GET", `/models/${id}`)).json.data;
  const { events }: { events: { type: string; actor: string; data: unknown }[] } = (await tenant.call("GET", "/events")).json
    .data;
  return { model, events: events.filter(({ type }) => type.startsWith("model.")) };
}

const many = (count: number, make: (index: number) => Rated) => Array.from({ length: count }, (_, index) => make(index));
const raised = (more: Partial<Rated> = {}): Rated => ({ amount: 5, score: 3, ...more });

test("drift: a champion that causes more than ten cases in a day, where there were none before, is retired once, so that the rules alone decide", async () => {
  const { model, events } = await watch(await champion(many(12, () => raised())));
  expect(model).toMatchObject({ state: "RETIRED", retired_by: "system" });
  expect(events).toMatchObject([
    { type: "model.retired", actor: "system", data: { reason: "too-many-cases", cases_per_day: 12, limit: 10 } },
  ]);
});

const budgeted = async (cases: number) => {
  const watched = await champion([...many(cases, () => raised()), ...many(40, () => raised({ account: "a-0" }))]);
  const { tenant } = watched;
  expect((await tenant.call("PUT", "/thresholds", { body: { cases_per_day: 4 } })).status).toBe(200);
  return (await watch(watched)).model;
};

test("drift: the limit is five times the budget, and it counts accounts, not payments", async () => {
  expect(await budgeted(20)).toMatchObject({ state: "CHAMPION", figures: { drift: { cases_per_day: 20 } } });
  expect(await budgeted(21)).toMatchObject({ state: "RETIRED", figures: { drift: { cases_per_day: 21 } } });
});

test("drift: an outsider who opens fifty accounts and makes them look fraudulent does not get the model retired", async () => {
  const { model, events } = await watch(await champion(many(54, () => raised({ ageMinutes: weekMinutes - 1 }))));
  expect(model).toMatchObject({ state: "CHAMPION", figures: { drift: { cases_per_day: 10 } } });
  expect(events).toEqual([]);
});

test("drift: an attack that the rules also find does not get the model retired", async () => {
  const { model } = await watch(await champion(many(100, () => raised({ rules: 2.5, score: 4 }))));
  expect(model).toMatchObject({ state: "CHAMPION", figures: { drift: { cases_per_day: 0 } } });
});

test("drift: an attack that is confirmed as fraud does not get the model retired", async () => {
  const watched = await champion(many(12, () => raised()));
  const frauds = ["p-1", "p-2", "p-3"].map((activity_id) => ({ activity_id, y: 1 as const }));
  await labelAs(watched.tenant, frauds);
  expect((await watch(watched)).model).toMatchObject({ state: "CHAMPION", figures: { drift: { cases_per_day: 9 } } });
});

test("drift: a field that has changed a lot is reported once, and the champion stays", async () => {
  const { model, events } = await watch(await champion(many(220, (index) => ({ amount: 50 + index, score: 1 }))));
  expect(model.state).toBe("CHAMPION");
  expect(model.figures.drift).toMatchObject({ is_drifted: true });
  expect(model.figures.drift?.fields["event.value"]).toBeGreaterThan(0.25);
  expect(events.map(({ type }) => type)).toEqual(["model.drifted"]);
  expect(await service.current.metrics.text()).toMatch(/^casehound_models_drifted [1-9]/m);
});

test("drift: activity like that of the training is not reported", async () => {
  const amounts = [5, 15, 5, 15, 5, 15, 5, 15, 5, 30];
  const { model, events } = await watch(await champion(many(220, (index) => ({ amount: amounts[index % 10] ?? 0, score: 1 }))));
  expect(model.figures.drift?.fields["event.value"]).toBeLessThan(0.1);
  expect(model.figures.drift?.is_drifted).toBe(false);
  expect(events).toEqual([]);
});

const known = async (days: number[]) => {
  const watched = await champion(many(40, () => ({ amount: 5, score: 1 })));
  await labelAs(
    watched.tenant,
    days.map((day, index) => ({ activity_id: `p-${index}`, y: 1 as const, known_at: noonBefore(day) })),
  );
  return watch(watched);
};

test("drift: four times as many known frauds as before are reported, and as many as before are not", async () => {
  const before = Array.from({ length: 20 }, (_, index) => 8 + index);
  const risen = await known([...before, ...Array.from({ length: 20 }, (_, index) => 1 + (index % 6))]);
  expect(risen.model.figures.drift).toMatchObject({ frauds_per_day: { last_7_days: 2.857, before: 0.7143 }, is_drifted: true });
  expect(risen.events).toMatchObject([{ type: "model.drifted", data: { frauds_per_day: { last_7_days: 2.857 } } }]);
  const steady = await known([...before, 1, 2, 3, 4, 5]);
  expect(steady.events).toEqual([]);
});

test("drift: measuring in a thread gives the same result as measuring in the process", async () => {
  const { tenant, id } = await champion(many(12, () => raised()));
  const { database } = service.current;
  const model: Model = (await tenant.call("GET", `/models/${id}`)).json.data;
  const job = { tenantId: tenant.tenantId, model, now: new Date().toISOString() };
  const measured = await new ThreadMeasurer(database, new AbortController().signal).watch(job);
  expect(measured).toEqual(await measureDrift(database, job));
  expect(measured.cases_per_day).toBe(12);
});
