import { isScenarioId, type ScenarioId } from "./scenarios.ts";

export type DevelopersSearch = { scenario?: ScenarioId; run?: string };

// The chosen scenario and the last run, in the address so they can be shown to a colleague.
export function readDevelopersSearch({ scenario, run }: Record<string, unknown>): DevelopersSearch {
  const chosen = typeof scenario === "string" && isScenarioId(scenario) ? { scenario } : {};
  return { ...chosen, ...(typeof run === "string" && /^[0-9a-z]{13,16}$/.test(run) && { run }) };
}
