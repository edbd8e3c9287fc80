import { afterAll, beforeAll, expect, test } from "vitest";
import { measureForgers } from "../../bench/detection-forger.ts";
import { measure } from "../../bench/detection-measure.ts";
import { SimulatedService } from "../../bench/detection-service.ts";
import { periodOf } from "../../bench/detection-shop.ts";
import { voices } from "@casehound/simulator/voice";

// Runs a small detection bench through the real collector, API and engine.
const period = periodOf({ days: 1, historyDays: 4 });
const onProgress = (): void => {};
let service: SimulatedService;

beforeAll(async () => {
  service = await SimulatedService.start(period);
}, 120_000);
afterAll(() => service.stop());

test.each(voices)(
  "bench: a shop of kind %s is measured, and its log-ins belong to their accounts",
  async (kind) => {
    const simulated = await service.run({ seed: "small", users: 12, kind }, period, onProgress);
    const logins = simulated.decided.filter(({ type }) => type === "login_succeeded");
    expect(logins.length).toBeGreaterThan(0);
    expect(logins.filter(({ account }) => account === null)).toEqual([]);
    const { attacks, genuine } = measure({ ...simulated, measuredMs: period.measuredMs });
    expect(genuine.length).toBeGreaterThan(0);
    expect(attacks.some((attack) => attack.kind === "friendly_fraud")).toBe(kind === "server");
    expect(attacks.filter((attack) => attack.kind === "scripted_bot")).toMatchObject([{ hasFinding: true }]);
  },
  240_000,
);

test("bench: a forger with two addresses accuses at most eight accounts from each, with MONITOR as the action", async () => {
  const shop = { users: 40, historyDays: 4, endMs: period.endMs };
  const [forged] = await measureForgers(service, shop, { wanted: [{ addresses: 2, paceMs: 3_600_000 }], onProgress });
  expect(forged?.victims).toBeGreaterThan(20);
  expect(forged?.onAccounts).toBeGreaterThan(8);
  expect(forged?.onAccounts).toBeLessThanOrEqual(16);
  expect(forged).toMatchObject({ score: 3, action: "MONITOR", onSources: 2 });
}, 240_000);
