// Measures the highest rate at which events are accepted and scored as fast as they arrive.
import { sustain, type Sustained } from "../load-sustained.ts";
import { percentile } from "../machine.ts";
import type { Context, Table, Target } from "./part.ts";
import { serveModels } from "./served-models.ts";
import { origin, startOn, type Store } from "./store.ts";

// In events per second. A rate is tried if the service did not keep up with the one before.
const rates = { quick: [8_000, 5_000], full: [8_000, 6_500, 5_000, 4_000] };
const secondsEach = { quick: 6, full: 25 };
// Compiles the code of both processes.
const warmUp = { rate: 3_000, seconds: 3 };
// CPU in microseconds per event.
const wanted = { rate: 8_000, service: 130, postgres: 70 };
const acceptedShareMin = 0.99;
const backlogSecondsMax = 2;
// With a longer backlog, the attempt ends early: it has failed.
const backlogSecondsGivenUp = 5;

export type Tried = { rate: number; found: Sustained };

const number = (value: number) => Math.round(value).toLocaleString("en");
const perSecond = ({ events, seconds }: Sustained) => events / seconds;
const atTheEnd = ({ backlog }: Sustained) => Math.max(...backlog.slice(-2));

export async function measureSustained({ bench, scale, progress }: Context, store: Store): Promise<Tried[]> {
  const { database } = store;
  await serveModels(database, store.tenants[0]?.tenant_id ?? "");
  const api = await startOn(bench, store, { env: { ROLES: "api,collector" } });
  const engine = await startOn(bench, store, { env: { ROLES: "engine" } });
  const tried: Tried[] = [];
  try {
    const [{ slug, app_key: appKey } = { slug: "", app_key: "" }] = store.tenants;
    const tenant = { slug, appKey, origin, token: async () => api.tokens[0] ?? "" };
    const loaded = { bench, database, api, engine, tenant };
    await sustain(loaded, { ...warmUp, seed: "warm-up" });
    const seconds = secondsEach[scale];
    for (const rate of rates[scale]) {
      const onWatched = (now: { seconds: number }) => progress(now.seconds, seconds, `${number(rate)} events a second`);
      const options = { rate, seconds, onWatched, backlogMax: rate * backlogSecondsGivenUp, seed: `load-${rate}` };
      tried.push({ rate, found: await sustain(loaded, options) });
      if (tried.some(isKeptUp)) break;
    }
  } finally {
    await engine.stop();
    await api.stop();
  }
  return tried;
}

// Whether everything was accepted, and scored as fast as it arrived.
export function isKeptUp({ rate, found }: Tried): boolean {
  const isAccepted = found.refused === 0 && perSecond(found) >= rate * acceptedShareMin;
  return isAccepted && !found.isGivenUp && atTheEnd(found) <= rate * backlogSecondsMax;
}

export function sustainedTarget(tried: Tried[]): Target {
  const kept = tried.filter(isKeptUp).toSorted((a, b) => b.rate - a.rate)[0];
  const missed = tried.filter((each) => !isKeptUp(each)).map(({ rate }) => number(rate));
  const failed = missed.length === 0 ? "" : `not sustained: ${missed.join("; ")}`;
  const figures =
    kept && `${number(perSecond(kept.found))} with ${number(kept.found.cpu.service)} + ${number(kept.found.cpu.postgres)} µs`;
  return {
    name: "events per second, accepted and scored, sustained",
    wanted: `${number(wanted.rate)} with under ${wanted.service} + ${wanted.postgres} µs`,
    measured: [figures ?? "no rate", failed].filter((text) => text !== "").join("; "),
    isReached:
      kept !== undefined &&
      kept.rate >= wanted.rate &&
      kept.found.cpu.service < wanted.service &&
      kept.found.cpu.postgres < wanted.postgres,
  };
}

const delays = ({ probe }: Sustained) => [0.5, 0.95, 1].map((share) => percentile(probe.delaysMs, share).toFixed(0)).join(", ");
const cpuOf = ({ cpu }: Sustained) => [cpu.service, cpu.postgres, cpu.generator].map((each) => each.toFixed(0)).join(", ");

export function sustainedTable(tried: Tried[]): Table {
  const row = (what: string, of: (found: Sustained) => string): string[] => [what, ...tried.map(({ found }) => of(found))];
  return {
    title: "Events accepted and scored, sustained",
    note: `One process runs the API and the collector, another runs the engine. A champion and a challenger rate every log-in, sign-up, payment and change. The load generator and the database are on the same machine. A rate is sustained if nothing is rejected, and at most ${backlogSecondsMax} seconds of events wait at the end. If it is not, a lower one is tried. An attempt with ${backlogSecondsGivenUp} seconds of waiting events ends early.`,
    columns: ["what", ...tried.map(({ rate }) => `${number(rate)} events/s`)],
    rows: [
      ["sustained", ...tried.map((each) => (isKeptUp(each) ? "yes" : "no"))],
      row("events", (found) => `${number(found.events)} in ${found.seconds.toFixed(0)} s, ${found.refused} requests rejected`),
      row("waiting to be scored", ({ backlog }) => backlog.map(number).join("; ")),
      row("time until all were scored", ({ drainedSeconds }) => `${drainedSeconds.toFixed(1)} s`),
      row(
        "from acceptance to case, p50, p95, max",
        (found) => `${delays(found)} ms of ${found.probe.delaysMs.length}, ${found.probe.lost} lost`,
      ),
      row("peak memory: API and collector, engine", ({ memoryMb }) => memoryMb.map((each) => `${each.toFixed(0)} MB`).join(", ")),
      row("CPU per event: service, database, generator", (found) => `${cpuOf(found)} µs`),
    ],
  };
}
