import { killAtEveryPoint } from "./assessments/kills.ts";
import { assessSideBySide } from "./assessments/side-by-side.ts";
import { assessCrowd, stallDatabase } from "./assessments/stalls.ts";
import type { Findings, Part, Proof } from "./part.ts";

const wanted = {
  short: { kills: 14, sideBySide: 60, stalls: 1, crowd: 300 },
  full: { kills: 200, sideBySide: 4_000, stalls: 20, crowd: 1_000 },
};

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const { kills, sideBySide, stalls, crowd } = wanted[scale];
  const killed = await killAtEveryPoint(kills, random.fork("kills"), (done) => progress(done, kills, "kills"));
  const beside = await assessSideBySide(sideBySide, random.fork("side by side"));
  const stalled = await stallDatabase(stalls, random.fork("stalls"), (done) => progress(done, stalls, "stalls of the database"));
  const crowded = await assessCrowd(crowd, random.fork("crowd"));
  return {
    figures: {
      "kill -9 during an assessment": killed.kills,
      "different fail points": killed.points,
      "answered before the kill, with the same verdict after it": killed.answeredBefore,
      "assessments with two APIs and two engines, each sent three times": beside.answers,
      "of them final": beside.final,
      "answers that were not stored in time": beside.unstored,
      "stalls of the database": stalled.stalls,
      "answers during them": stalled.answers,
      "of them marked as not stored": stalled.unstored,
      "latest answer after its deadline, ms": stalled.latestMs,
      "simultaneous assessments of one account": crowded.assessments,
      "cases that they opened": crowded.cases,
    },
    violations: [killed, beside, stalled, crowded].flatMap(({ violations }) => violations),
  };
}

export const assessments: Part = {
  name: "assessments",
  title: "Assessments",
  claim:
    "The service is killed at every point of an assessment: while the activity is stored, while it is judged, between verdict and commit, and between commit and response. However often the request is repeated, there is one verdict, and the activity is scored once. With two APIs and two engines, the same request gets the same answer everywhere. While the database is paused, every assessment is answered by its deadline, and the answer says so if it is not stored. A thousand simultaneous assessments of one account open one case.",
  run,
};
