import { availableParallelism } from "node:os";

// How many processes serve the API and the collector. One is the first process itself.
export type WorkerCount = { count: number; isAuto: boolean };

const countMax = 64;
// With more workers on one machine, PostgreSQL is the bottleneck.
const autoMax = 16;

// Returns a fault as text.
export function readWorkers(value: string | null): WorkerCount | string {
  if (value === "auto") return { count: Math.min(availableParallelism(), autoMax), isAuto: true };
  const count = Number(value ?? "1");
  if (!/^[1-9]\d?$/.test(value ?? "1") || count > countMax)
    return `WORKERS must be a number of processes from 1 to ${countMax}, or auto, not ${JSON.stringify(value)}`;
  return { count, isAuto: false };
}
