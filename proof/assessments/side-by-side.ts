import type { Random } from "@casehound/simulator/random";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { audit } from "./audit.ts";
import { assessmentIn, bodyOf, send } from "./sender.ts";

export type SideFindings = { answers: number; final: number; unstored: number; violations: string[] };

const clients = 8;
// The deadline is two seconds, so hardly any answer comes before the database has confirmed it.
const unstoredShareMax = 0.01;

// Runs two API processes without an engine, and two engines. Every request is sent to both APIs at the same time, and then to the
// first one again.
export async function assessSideBySide(wanted: number, random: Random): Promise<SideFindings> {
  const stand = await Stand.open();
  const violations: string[] = [];
  const answered = new Map<string, string>();
  let [left, final, unstored] = [wanted, 0, 0];
  try {
    const tenant = await stand.tenant();
    const apis = await Promise.all([0, 1].map(() => stand.start({ ROLES: "api" })));
    await Promise.all([0, 1].map(() => stand.start({ ROLES: "engine" })));
    const lines = apis.map(({ port }) => new ApiCaller(port, tenant));
    await Promise.all(lines.map((line) => line.signIn()));
    const run = async (own: Random) => {
      while (left-- > 0) {
        const body = bodyOf(own);
        const both = await Promise.all(lines.map((line) => send(line, body)));
        const [again] = await Promise.all(lines.slice(0, 1).map((line) => send(line, body)));
        // On a busy machine, an answer may come before the database has confirmed it. It says so, and only such an answer may differ.
        const kept = [...both, again].filter((answer) => answer?.status !== 200 || assessmentIn(answer).is_stored);
        unstored += both.length + 1 - kept.length;
        const texts = new Set(kept.map((answer) => answer?.text ?? "no answer"));
        if (texts.size > 1) violations.push(`${body.activity_id}: different answers: ${[...texts].join(" and ")}`);
        if (again?.status !== 200) violations.push(`${body.activity_id}: ${again?.status ?? "no answer"}`);
        else if (assessmentIn(again).is_stored) {
          answered.set(body.activity_id, again.text);
          if (assessmentIn(again).is_final) final++;
        }
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => run(random.fork(`client ${index}`))));
    violations.push(...(await audit(stand, tenant.tenant_id, answered)));
    if (unstored > wanted * unstoredShareMax) violations.push(`${unstored} answers were not stored in time`);
    return { answers: answered.size, final, unstored, violations };
  } finally {
    await stand.close();
  }
}
