import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import { processesOf } from "../../service/test/launch.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { audit } from "./audit.ts";
import { assessmentIn, bodyOf, send, sendUntilStored } from "./sender.ts";

export type StallFindings = { stalls: number; answers: number; unstored: number; latestMs: number; violations: string[] };
export type CrowdFindings = { assessments: number; cases: number; violations: string[] };

const deadlineMs = 200;
// Leaves time for a busy machine. It is shorter than the stall, so an answer that comes only after the stall is too late.
const lateMsMax = 1_000;
const stallMs = 2_500;
const atOnce = 5;

// Pauses every PostgreSQL process for a while. Meanwhile, assessments must be answered by their deadlines, and an answer that is
// not stored must say so.
export async function stallDatabase(stalls: number, random: Random, onStall: (done: number) => void): Promise<StallFindings> {
  const stand = await Stand.open();
  const found: StallFindings = { stalls: 0, answers: 0, unstored: 0, latestMs: 0, violations: [] };
  const answered = new Map<string, string>();
  try {
    const tenant = await stand.tenant();
    const service = await stand.start();
    const line = new ApiCaller(service.port, tenant);
    await line.signIn();
    await sendUntilStored(line, bodyOf(random));
    for (; found.stalls < stalls; onStall(++found.stalls)) {
      const bodies = Array.from({ length: atOnce }, () => bodyOf(random, { deadline_ms: deadlineMs, type: "login_succeeded" }));
      const pids = processesOf(stand.folder);
      // Some requests are under way when the stall begins.
      const early = bodies.slice(0, random.whole(0, 2)).map((body) => send(line, body));
      await sleep(random.between(0, 8));
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      const began = performance.now();
      const sent = bodies.slice(early.length).map((body) => send(line, body));
      const thawed = sleep(stallMs).then(() => pids.forEach((pid) => process.kill(pid, "SIGCONT")));
      const answers = await Promise.all([...early, ...sent]);
      const tookMs = performance.now() - began;
      found.latestMs = Math.max(found.latestMs, Math.round(tookMs - deadlineMs));
      if (tookMs > deadlineMs + lateMsMax) found.violations.push(`an answer took ${tookMs.toFixed(0)} ms`);
      await thawed;
      for (const [index, body] of bodies.entries()) {
        const answer = answers[index];
        if (answer?.status !== 200) {
          found.violations.push(`${body.activity_id}: ${answer?.status ?? "no answer"} while the database was paused`);
          continue;
        }
        found.answers++;
        const { is_stored: isStored, action } = assessmentIn(answer);
        if (!isStored) found.unstored++;
        if (!isStored && action !== "CHALLENGE") found.violations.push(`${body.activity_id}: ${action} instead of \`otherwise\``);
        const again = await sendUntilStored(line, body);
        answered.set(body.activity_id, again.text);
        if (isStored && again.text !== answer.text) found.violations.push(`${body.activity_id}: the answer changed`);
      }
    }
    found.violations.push(...(await audit(stand, tenant.tenant_id, answered)));
    return found;
  } finally {
    for (const pid of processesOf(stand.folder)) process.kill(pid, "SIGCONT");
    await stand.close();
  }
}

// Sends many assessments of one account at once. They must open one case.
export async function assessCrowd(wanted: number, random: Random): Promise<CrowdFindings> {
  const stand = await Stand.open();
  const violations: string[] = [];
  try {
    const tenant = await stand.tenant();
    const service = await stand.start();
    const line = new ApiCaller(service.port, tenant);
    await line.signIn();
    const more = { type: "fraud_report", website_account_id: "victim" };
    const bodies = Array.from({ length: wanted }, () => bodyOf(random, more));
    const answers = await Promise.all(bodies.map((body) => send(line, body)));
    const failed = answers.filter((answer) => answer?.status !== 200);
    if (failed.length > 0)
      violations.push(`${failed.length} of ${wanted} got no verdict. The first response: ${failed[0]?.text}`);
    const answered = new Map(bodies.flatMap(({ activity_id }, at) => (answers[at] ? [[activity_id, answers[at].text]] : [])));
    violations.push(...(await audit(stand, tenant.tenant_id, answered)));
    const [row] = await stand.database.query<{ cases: number }>(
      statement("select count(*) as cases from cases where tenant_id = $1", [tenant.tenant_id]),
    );
    if (row?.cases !== 1) violations.push(`${wanted} assessments of one account opened ${row?.cases} cases`);
    return { assessments: wanted, cases: row?.cases ?? 0, violations };
  } finally {
    await stand.close();
  }
}
