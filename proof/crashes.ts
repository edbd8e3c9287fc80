import { CrashedService, type CrashFindings, type Victim } from "./crashes/crashed-service.ts";
import { failAtEveryPoint, pointKinds, type PointFindings } from "./crashes/points.ts";
import type { Findings, Part, Proof } from "./part.ts";

const roundsWanted = { short: 4, full: 210 };
// Run lanes in parallel, because a round mostly waits for a start.
const lanes = { short: 1, full: 2 };

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const rounds = roundsWanted[scale];
  let done = 0;
  const show = () => progress(done, rounds, "kills, with the fail points in parallel");
  const onRound = () => {
    done++;
    show();
  };
  const underLoad = Array.from({ length: lanes[scale] }, (_, index) =>
    new CrashedService(random.fork(`lane ${index}`)).run(rounds / lanes[scale], onRound),
  );
  const kinds = scale === "full" ? pointKinds : [random.pick(pointKinds)];
  const points = failAtEveryPoint(kinds, random.fork("points"), show);
  return summary(await Promise.all(underLoad), await points);
}

function summary(found: CrashFindings[], { points, scored, violations }: PointFindings): Findings {
  const sum = (of: (each: CrashFindings) => number) => found.reduce((total, each) => total + of(each), 0);
  const killed = (victim: Victim) => sum(({ kills }) => kills.get(victim) ?? 0);
  const byKind = [...points].map(([kind, names]) => [`fail points, ${kind}`, names.length] as const);
  return {
    figures: {
      "kill -9 under load": sum(({ kills }) => [...kills.values()].reduce((total, times) => total + times, 0)),
      "of the service": killed("the service"),
      "of PostgreSQL": killed("PostgreSQL"),
      "of both": killed("both"),
      "requests under load": sum(({ ledger }) => ledger.requests),
      "no response or no known outcome, sent again": sum(({ ledger }) => ledger.unknown),
      "found by a replay to have been applied": sum(({ ledger }) => ledger.replays),
      "acknowledged changes, each found once": sum(({ ledger }) => ledger.changes.size),
      "activities scored, each once": sum((each) => each.scored) + scored,
      "fail points inside writes": byKind.reduce((total, [, count]) => total + count, 0),
      ...Object.fromEntries(byKind),
    },
    violations: [...found.flatMap(({ ledger }) => ledger.violations), ...violations],
  };
}

export const crashes: Part = {
  name: "crashes",
  title: "Killed processes",
  claim:
    "`kill -9` of the service, of its PostgreSQL and of both, at random moments under load. The service is also killed at every point between two statements of a write, before and after COMMIT, and while its response is being sent. After the restart, no acknowledged change is missing, no key is applied twice, and every accepted activity is scored once. Only the proof loads the fail points into the service.",
  run,
};
