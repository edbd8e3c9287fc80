import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Random } from "@casehound/simulator/random";
import { freePort } from "../../service/test/launch.ts";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { audit } from "./audit.ts";
import { assessmentIn, bodyOf, send, sendUntilStored } from "./sender.ts";

const preload = fileURLToPath(new URL("../crashes/fail-points.ts", import.meta.url));
const main = join(preload, "../../../service/src/main.ts");
const pointsMax = 80;

export type KillFindings = { kills: number; points: number; answeredBefore: number; violations: string[] };

// Kills the service at the first fail point of an assessment, then at the second, and so on: while the activity is stored, while
// it is judged, between verdict and commit, and between commit and response. After the last point, it starts over. After each
// restart, the same request must have one verdict.
export async function killAtEveryPoint(wanted: number, random: Random, onKill: (done: number) => void): Promise<KillFindings> {
  const stand = await Stand.open();
  const port = await freePort();
  const start = () => stand.start({ PORT: String(port), LOG_LEVEL: "silent" }, [process.execPath, "--import", preload, main]);
  const violations: string[] = [];
  const points = new Set<string>();
  const answered = new Map<string, string>();
  let [kills, answeredBefore] = [0, 0];
  try {
    const tenant = await stand.tenant();
    const line = new ApiCaller(port, tenant);
    let service = await start();
    await line.signIn();
    // From now on the service knows the token, so every request has the same points.
    const known = bodyOf(random);
    answered.set(known.activity_id, (await sendUntilStored(line, known)).text);
    for (let at = 1; kills < wanted; at++) {
      const body = bodyOf(random);
      const sent = send(line, body, { "x-fail-point": String(at) });
      const isDead = await Promise.race([service.exited.then(() => true), sent.then(async () => isGone(service.exited))]);
      if (!isDead) {
        if (at === 1 || at > pointsMax) throw new Error(`the service was not killed at fail point ${at}`);
        at = 0;
        continue;
      }
      kills++;
      onKill(kills);
      points.add(/fail point: (.*)/.exec(service.stderr)?.[1] ?? "unnamed");
      const first = await sent;
      service = await start();
      const again = await sendUntilStored(line, body);
      const third = await sendUntilStored(line, body);
      answered.set(body.activity_id, again.text);
      if (third.text !== again.text) violations.push(`${body.activity_id}: two verdicts after a kill`);
      if (first?.status !== 200 || !assessmentIn(first).is_stored) continue;
      answeredBefore++;
      if (first.text !== again.text) violations.push(`${body.activity_id}: a different verdict after the kill than before it`);
    }
    if (!points.has("commit sent")) violations.push("an assessment has no fail point at a commit");
    violations.push(...(await audit(stand, tenant.tenant_id, answered)));
    return { kills, points: points.size, answeredBefore, violations };
  } finally {
    await stand.close();
  }
}

// The service may also die right after it sent the response.
async function isGone(exited: Promise<unknown>): Promise<boolean> {
  const pause = new Promise<false>((resolve) => setTimeout(() => resolve(false), 200));
  return Promise.race([exited.then(() => true), pause]);
}
