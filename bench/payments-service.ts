import type { SimulatedService } from "./detection-service.ts";
import { postgresCpuSeconds } from "./machine.ts";
import type { Payment } from "./payments-file.ts";
import { dayMs, delayMs, testedPayments, type Rated } from "./payments-protocol.ts";
import { PaymentsTenant, type PaymentsTraining } from "./payments-tenant.ts";

const batchMax = 1_000;
// A label becomes known between two batches, so a batch must not span much time.
const batchMs = 2 * 3_600_000;

type Cost = { service: number; postgres: number };
export type Played = { rated: Rated[][]; perEvent: Cost; trainings: PaymentsTraining[]; labels: number; cases: number };
// If `isTaught`, the tenant sends labels, and a model is trained and promoted when a test week begins.
export type Play = { name: string; payments: readonly Payment[]; weeks: readonly number[]; isTaught: boolean };

// Sends all payments of the file to a tenant of its own, at their own times, and returns the stored scores of the test weeks.
export async function playPayments(
  service: SimulatedService,
  { name, payments, weeks, isTaught }: Play,
  onProgress: (line: string) => void,
): Promise<Played> {
  const startMs = payments[0]?.atMs ?? 0;
  const opened = await service.open({ startMs, measuredMs: startMs, endMs: startMs }, name);
  const tenant = new PaymentsTenant(service, opened, payments);
  const due = isTaught ? new DueLabels(payments) : null;
  const trainings: PaymentsTraining[] = [];
  const meter = new Meter(service);
  let [sent, day] = [0, 0];
  for (const batch of batchesOf(payments)) {
    const first = batch[0]?.atMs ?? 0;
    const dayBegan = Math.floor(first / dayMs) * dayMs;
    if (dayBegan !== day) {
      service.nowMs = dayBegan;
      if (due) await tenant.label([...due.until(dayBegan), ...(await tenant.honestSuspects(dayBegan - delayMs))]);
      if (isTaught && weeks.includes(dayBegan)) {
        await meter.pauseFor(async () => {
          trainings.push(await tenant.train());
        });
        onProgress(`${name}: a model was trained in ${trainings.at(-1)?.seconds.toFixed(0)} s`);
      }
      day = dayBegan;
      onProgress(`${name}: ${new Date(day).toISOString().slice(0, 10)}, ${sent.toLocaleString("en")} payments`);
    }
    service.nowMs = batch.at(-1)?.atMs ?? first;
    if (due) await tenant.label(due.until(service.nowMs));
    await tenant.send(batch);
    sent += batch.length;
  }
  const perEvent = meter.per(sent);
  const rated: Rated[][] = [];
  for (const [index, week] of weeks.entries())
    rated.push(await tenant.rate(testedPayments(payments, week), trainings[index]?.model));
  return { rated, perEvent, trainings, labels: due?.sent ?? 0, cases: await tenant.countCases() };
}

// Payments that are close to each other in time. A batch does not go beyond midnight, so that a test week begins with a batch.
function* batchesOf(payments: readonly Payment[]): Generator<Payment[]> {
  let batch: Payment[] = [];
  for (const payment of payments) {
    const first = batch[0]?.atMs ?? payment.atMs;
    const isNext = Math.floor(first / dayMs) !== Math.floor(payment.atMs / dayMs) || payment.atMs - first > batchMs;
    if (isNext || batch.length >= batchMax) {
      yield batch;
      batch = [];
    }
    batch.push(payment);
  }
  if (batch.length > 0) yield batch;
}

// The reports of fraud, each at the time when the fraud becomes known. Nobody reports an honest payment.
class DueLabels {
  readonly #reported: Payment[];
  sent = 0;

  constructor(payments: readonly Payment[]) {
    this.#reported = payments.filter(({ isReported }) => isReported);
  }

  until(nowMs: number): Payment[] {
    const from = this.sent;
    while ((this.#reported[this.sent]?.atMs ?? Infinity) + delayMs <= nowMs) this.sent++;
    return this.#reported.slice(from, this.sent);
  }
}

// CPU of this process, in which the service and the sender of the payments run, and of PostgreSQL.
class Meter {
  readonly #service: SimulatedService;
  #began: Cost;

  constructor(service: SimulatedService) {
    this.#service = service;
    this.#began = this.#read();
  }

  async pauseFor(work: () => Promise<void>): Promise<void> {
    const before = this.#read();
    await work();
    const after = this.#read();
    this.#began = {
      service: this.#began.service + after.service - before.service,
      postgres: this.#began.postgres + after.postgres - before.postgres,
    };
  }

  per(events: number): Cost {
    const { service, postgres } = this.#read();
    return { service: (service - this.#began.service) / events, postgres: (postgres - this.#began.postgres) / events };
  }

  #read(): Cost {
    return { service: ownCpuSeconds(), postgres: postgresCpuSeconds(this.#service.inside.folder) };
  }
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
