import { SimulatedService } from "./detection-service.ts";
import { readPayments } from "./payments-file.ts";
import { testWeeksOf } from "./payments-protocol.ts";
import { playPayments } from "./payments-service.ts";
import { measurePlayed, weekText, type Measured, type Setting } from "./payments-table.ts";

type Options = {
  customers: number | null;
  weeks: number;
  flip: number;
  mistaken: number;
  onProgress: (line: string) => void;
};

// Measures a tenant that sends labels. Unless labels are made wrong on purpose, also measures a tenant that sends none and has
// only its rules.
export async function measurePayments(
  path: string,
  { weeks: weekCount, onProgress, ...options }: Options,
): Promise<{ measured: Measured[]; setting: Omit<Setting, "file"> }> {
  const { payments, weeksMoved, customersOfFile } = await readPayments(path, { ...options, nowMs: Date.now() });
  const weeks = testWeeksOf(payments, weekCount);
  const customers = new Set(payments.map(({ customer }) => customer)).size;
  const { flip, mistaken } = options;
  const setting = { payments: payments.length, customers, customersOfFile, weeksMoved, flip, mistaken };
  const [startMs, endMs] = [payments[0]?.atMs ?? 0, payments.at(-1)?.atMs ?? 0];
  const service = await SimulatedService.start({ startMs, measuredMs: startMs, endMs });
  try {
    const measured: Measured[] = [];
    const areLabelsTrue = flip === 0 && mistaken === 0;
    for (const isTaught of areLabelsTrue ? [true, false] : [true]) {
      const name = isTaught ? "model" : "rules";
      const played = await playPayments(service, { name, payments, weeks, isTaught }, onProgress);
      const figures = measurePlayed(name, played, { ...setting, file: "" });
      for (const week of [...figures.weeks, figures.mean]) onProgress(`${name}: ${weekText(week)}`);
      measured.push(figures);
    }
    return { measured, setting };
  } finally {
    await service.stop();
  }
}
