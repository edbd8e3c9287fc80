import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { Features } from "../src/detection/catalogue.ts";
import { lockCasesById, saveCases } from "../src/db/cases.ts";
import { saveOutcomes } from "../src/db/outcomes.ts";
import { changeStatus, type CaseChange, type CaseDocument } from "../src/domain/case.ts";
import type { Detector } from "../src/engine/detect.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import { networkDatabases } from "@casehound/simulator/mmdb";
import { addressV4, Network } from "@casehound/simulator/network";
import { DetectionTenant, type Sent } from "./detection.ts";

// An activity at the given minute of the stage, which begins longer ago than anything played on it takes.
export type Step = Sent & { minute: number };
export type Played = { activity_id: string; rules: string[]; features: Features; score: number };
export type StagedCase = CaseDocument & { subject: string };

const stageDays = 20;

// A new tenant with the default rules, on which activity is played through the real engine.
export class Stage {
  readonly tenant: DetectionTenant;
  readonly #beginMs: number;
  #played = 0;

  private constructor(tenant: DetectionTenant, hoursAgo: number) {
    this.tenant = tenant;
    this.#beginMs = Date.now() - hoursAgo * 60 * 60_000;
  }

  static async open(more: Partial<Detector> = {}, hoursAgo = stageDays * 24): Promise<Stage> {
    const tenant = await DetectionTenant.create(more);
    onTestFinished(() => tenant.end());
    return new Stage(tenant, hoursAgo);
  }

  at(minute: number): string {
    return new Date(this.#beginMs + Math.round(minute * 60_000)).toISOString();
  }

  // Sends and scores the steps. Returns the decision on each, in order.
  async play(steps: Step[]): Promise<Played[]> {
    const sent = steps.map(({ minute, ...activity }): Sent & { activity_id: string } => ({
      activity_id: `step-${++this.#played}`,
      occurred_at: this.at(minute),
      ...activity,
    }));
    await this.tenant.send(...sent);
    await this.tenant.score();
    const decisions = await this.tenant.decisions();
    return sent.map(({ activity_id }) => {
      const decision = decisions.get(activity_id);
      if (!decision) throw new Error(`${activity_id} was not scored`);
      return { activity_id, ...decision };
    });
  }

  // Returns the decision on the last one.
  async playLast(steps: Step[]): Promise<Played> {
    const last = (await this.play(steps)).at(-1);
    if (!last) throw new Error("nothing was played");
    return last;
  }

  // Closes or reopens a case as an investigator does.
  async decide(caseId: string, change: Pick<CaseChange, "status" | "disposition">): Promise<void> {
    const { database, tenantId } = this.tenant;
    await database.transaction(async (tx) => {
      const [found] = await lockCasesById(tx, tenantId, [caseId]);
      if (!found) throw new Error(`there is no case ${caseId}`);
      const { case_version } = found.document;
      const actor = { name: "somebody", now: new Date().toISOString(), state_id: randomUUID() };
      const changed = { ...found, ...changeStatus(found.document, { ...change, case_version }, actor) };
      await saveCases(tx, tenantId, [changed]);
      await saveOutcomes(tx, tenantId, [changed]);
    });
  }

  cases(): Promise<StagedCase[]> {
    return this.tenant.cases();
  }

  async onlyCase(): Promise<StagedCase> {
    const [found, ...more] = await this.cases();
    if (!found || more.length > 0) throw new Error(`there are ${found ? more.length + 1 : 0} cases`);
    return found;
  }
}

// What the latest occurrence shows for a rule: each field that it read, with its value.
export function shownValues({ fraud_occurrences: occurrences }: StagedCase, ruleId: string): Record<string, unknown> {
  const latest = Object.values(occurrences).at(-1);
  const model = latest?.explanation.model_behaviour?.find(({ model_name: name }) => name === ruleId);
  if (!model) throw new Error(`the case shows nothing of ${ruleId}`);
  return Object.fromEntries(model.top_contributors.map(({ feature, feature_value: value }) => [feature, value]));
}

const network = new Network();
const databases = networkDatabases(network, Date.UTC(2026, 10, 1));

// An address in the simulated internet.
export function addressIn(city: string, host = 1): string {
  const site = network.sites.find((each) => each.city.name === city && each.carrier.kind === "home");
  if (!site) throw new Error(`nobody lives in ${city}`);
  return addressV4(site, host);
}

export function withCountries(): Partial<Detector> {
  return { enrichment: new Enrichment([databases.country, databases.asn]) };
}

export function withPlaces(): Partial<Detector> {
  return { enrichment: new Enrichment([databases.city, databases.asn]) };
}
