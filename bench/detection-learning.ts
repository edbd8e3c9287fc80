import { Random } from "@casehound/simulator/random";
import type { Delivery, FraudNote } from "@casehound/simulator/delivery";
import type { Voice } from "@casehound/simulator/voice";
import type { CaseDocument } from "../service/src/domain/case.ts";
import { ratedTypes, type Moment, type NewLabel } from "../service/src/domain/label.ts";
import { momentNames } from "../service/src/domain/moment.ts";
import { origin, type Opened, type Progress, type SimulatedService, type Simulated } from "./detection-service.ts";
import { dayMs, shopTimeline, type Period } from "./detection-shop.ts";
import { TaughtTenant, type TrainingRun } from "./taught-tenant.ts";

// After this time the shop knows of a fraud, if anybody ever reports it.
export const knownAfterDays = 7;
// An investigator decides about a case when it is this old. Most decisions are right, and the others are inconclusive.
const investigatedMs = dayMs;
const decidedShare = 0.8;
// A model is trained when the measured period begins, and then every week.
const trainedEveryMs = 7 * dayMs;

export type Lesson = { seed: string; atMs: number; moment: Moment; run: TrainingRun };
export type Taught = Simulated & { lessons: Lesson[]; labels: number };

type TaughtShop = { seed: string; users: number; kind: Voice["kind"]; period: Period; onProgress: Progress };

// Runs a shop that is attacked before the measured period too, and that learns from it: frauds become known, investigators close
// cases, and models are trained and promoted.
export async function runTaught(service: SimulatedService, shop: TaughtShop): Promise<Taught> {
  const { seed, users, kind, period, onProgress } = shop;
  const opened = await service.open(period);
  const voice = await service.voiceOf(opened, kind);
  const teacher = new Teacher(service, opened, shop);
  const deliveries = shopTimeline({ seed, users, period, voice, appKey: opened.app_key, origin });
  const lived = await service.bring(opened, teacher.watch(deliveries), {
    seed,
    onProgress,
    meanwhile: () => teacher.teach(),
  });
  const { lessons, labels } = teacher;
  return { ...lived, ...(await service.read(opened.tenant_id, period)), lessons, labels };
}

// What the shop and its investigators learn over time.
class Teacher {
  readonly #service: SimulatedService;
  readonly #opened: Opened;
  readonly #shop: TaughtShop;
  readonly #tenant: TaughtTenant;
  readonly #random: Random;
  readonly #frauds: FraudNote[] = [];
  // The sessions of attackers. An investigator can find out whether it was the owner.
  readonly #guilty = new Set<string>();
  readonly lessons: Lesson[] = [];
  labels = 0;
  #day = 0;
  #trainedMs: number;

  constructor(service: SimulatedService, opened: Opened, shop: TaughtShop) {
    this.#service = service;
    this.#opened = opened;
    this.#shop = shop;
    this.#tenant = new TaughtTenant(service, opened);
    this.#random = new Random(`${shop.seed}/investigators`);
    this.#trainedMs = shop.period.measuredMs;
  }

  *watch(deliveries: Iterable<Delivery>): Generator<Delivery> {
    for (const delivery of deliveries) {
      if (delivery.kind === "fraud" && delivery.fraud.known_ms !== null) this.#frauds.push(delivery);
      if (delivery.kind === "truth" && delivery.session.kind !== "genuine") this.#guilty.add(delivery.session.session_id ?? "");
      yield delivery;
    }
  }

  async teach(): Promise<void> {
    const { nowMs } = this.#service;
    await this.#label(nowMs);
    const day = Math.floor(nowMs / dayMs);
    if (day !== this.#day) await this.#investigate(nowMs);
    this.#day = day;
    await this.#tenant.applyLabels();
    const { measuredMs, endMs } = this.#shop.period;
    if (nowMs < this.#trainedMs || nowMs >= endMs || nowMs < measuredMs) return;
    this.#trainedMs += trainedEveryMs;
    for (const moment of momentNames) await this.#train(moment, nowMs);
  }

  async #label(nowMs: number): Promise<void> {
    const isDue = ({ at_ms }: FraudNote) => at_ms + knownAfterDays * dayMs <= nowMs;
    const due = this.#frauds.filter(isDue);
    this.#frauds.splice(0, Number.POSITIVE_INFINITY, ...this.#frauds.filter((each) => !isDue(each)));
    const labels = due.flatMap(({ at_ms, fraud }): NewLabel[] =>
      fraud.activities
        .filter(({ type }) => ratedTypes.includes(type))
        .map(({ activity_id }) => ({
          activity_id,
          fraudulent: true,
          known_at: new Date(at_ms + knownAfterDays * dayMs).toISOString(),
        })),
    );
    await this.#tenant.label(labels);
    this.labels += labels.length;
  }

  async #investigate(nowMs: number): Promise<void> {
    const open = (await this.#service.cases(this.#opened.tenant_id)).filter(
      ({ status, created_at }) => status === "OPEN" && Date.parse(created_at) <= nowMs - investigatedMs,
    );
    if (open.length === 0) return;
    const guilty = new Set(
      (await this.#service.activitiesInCases(this.#opened.tenant_id))
        .filter(({ session_id }) => this.#guilty.has(session_id ?? ""))
        .map(({ case_id }) => case_id),
    );
    const verdictOf = ({ case_id, website_account_id, created_at }: CaseDocument) => {
      if (!this.#random.fork(`${website_account_id} ${created_at}`).chance(decidedShare)) return "INCONCLUSIVE";
      return guilty.has(case_id) ? "CONFIRMED_FRAUD" : "FALSE_POSITIVE";
    };
    for (const [verdict, cases] of Map.groupBy(open, verdictOf)) await this.#tenant.close(cases, verdict);
  }

  async #train(moment: Moment, atMs: number): Promise<void> {
    const run = await this.#tenant.train(moment);
    const { seed, onProgress } = this.#shop;
    this.lessons.push({ seed, atMs, moment, run });
    const result = "reason" in run ? run.reason : `${run.model.figures.frauds} frauds of ${run.model.figures.rows}`;
    onProgress(`${seed}: ${moment} was trained in ${run.seconds.toFixed(0)} s: ${result}`);
  }
}
