import { sql } from "../service/src/db/postgres/sql.ts";
import type { StoredDecision } from "../service/src/domain/decision.ts";
import type { Model } from "../service/src/domain/model.ts";
import type { Opened, SimulatedService } from "./detection-service.ts";
import type { Payment } from "./payments-file.ts";
import { chanceOf, dayMs, delayMs, type Rated } from "./payments-protocol.ts";
import { TaughtTenant, type TrainingRun } from "./taught-tenant.ts";

const engineBatch = 1_000;
// With this score or more, a payment is in a case, and counts as honest only if somebody says so.
const caseScore = 3;

export type PaymentsTraining = Extract<TrainingRun, { model: Model }>;

// A tenant that sends payments and labels over the API.
export class PaymentsTenant {
  readonly #service: SimulatedService;
  readonly #opened: Opened;
  readonly #taught: TaughtTenant;
  readonly #payments: ReadonlyMap<string, Payment>;

  constructor(service: SimulatedService, opened: Opened, payments: readonly Payment[]) {
    this.#service = service;
    this.#opened = opened;
    this.#taught = new TaughtTenant(service, opened);
    this.#payments = new Map(payments.map((payment) => [payment.id, payment]));
  }

  async send(batch: readonly Payment[]): Promise<void> {
    const activities = batch.map(({ id, atMs, customer, terminal, amount }) => ({
      activity_id: id,
      type: "payment",
      occurred_at: new Date(atMs).toISOString(),
      website_account_id: customer,
      payee_id: terminal,
      amount,
      currency: "EUR",
      status: "approved",
    }));
    await this.#taught.call("POST", "/activities", { activities });
    await this.#service.detect(this.#opened.tenant_id, engineBatch);
  }

  async label(payments: readonly Payment[]): Promise<void> {
    const labels = payments.map(({ id, atMs, isReported }) => ({
      activity_id: id,
      fraudulent: isReported,
      known_at: new Date(atMs + delayMs).toISOString(),
    }));
    await this.#taught.label(labels);
    if (labels.length > 0) await this.#taught.applyLabels();
  }

  // Payments of the previous day that are in a case, although nobody reports them as fraud. An investigator closes these cases.
  async honestSuspects(untilMs: number): Promise<Payment[]> {
    const [from, until] = [untilMs - dayMs, untilMs].map((atMs) => new Date(atMs).toISOString());
    const rows = await this.#service.inside.database.query<{ activity_id: string }>(sql`
      select activity_id
      from activities
      where tenant_id = ${this.#opened.tenant_id}
        and received_at >= ${from}
        and received_at < ${until}
        and score >= ${caseScore}`);
    return rows.flatMap(({ activity_id }) => {
      const payment = this.#payments.get(activity_id);
      return payment === undefined || payment.isReported ? [] : [payment];
    });
  }

  async train(): Promise<PaymentsTraining> {
    const trained = await this.#taught.train("value");
    if ("reason" in trained) throw new Error(`no model was trained: ${trained.reason}`);
    return trained;
  }

  // The stored scores of payments of one week, in their order.
  async rate(payments: readonly Payment[], model: Model | undefined): Promise<Rated[]> {
    const logOdds = new Map<string, number>();
    const [first, last] = [payments[0]?.atMs ?? 0, payments.at(-1)?.atMs ?? 0];
    for (let dayBegan = Math.floor(first / dayMs) * dayMs; dayBegan <= last; dayBegan += dayMs) {
      for (const { activity_id, decision } of await this.#decisions(dayBegan)) {
        // Written by the engine.
        const { l = 0, m } = JSON.parse(decision) as StoredDecision;
        if (model && m?.[0] !== model.model_id.slice(0, m?.[0].length)) throw new Error(`${activity_id} has no rating`);
        logOdds.set(activity_id, l);
      }
    }
    return payments.map((payment) => {
      const score = logOdds.get(payment.id);
      if (score === undefined) throw new Error(`${payment.id} has no decision`);
      return { payment, logOdds: score, chance: model ? chanceOf(score, model.figures.offset) : null };
    });
  }

  async countCases(): Promise<number> {
    return (await this.#service.cases(this.#opened.tenant_id)).length;
  }

  #decisions(dayBegan: number): Promise<{ activity_id: string; decision: string }[]> {
    const [from, until] = [dayBegan, dayBegan + dayMs].map((atMs) => new Date(atMs).toISOString());
    return this.#service.inside.database.query<{ activity_id: string; decision: string }>(sql`
      select activity_id, decision
      from activities
      where tenant_id = ${this.#opened.tenant_id} and received_at >= ${from} and received_at < ${until}`);
  }
}
