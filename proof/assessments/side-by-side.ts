import type { Random } from "@casehound/simulator/random";
import { Stand } from "../stand.ts";
import { ApiCaller } from "../writers/call.ts";
import { audit } from "./audit.ts";
import { assessmentIn, bodyOf, send } from "./sender.ts";

export type SideFindings = { answers: number; final: number; violations: string[] };

const clients = 8;

// Runs two API processes without an engine, and two engines. Every request is sent to both APIs at the same time, and then to the
// first one again.
export async function assessSideBySide(wanted: number, random: Random): Promise<SideFindings> {
  const stand = await Stand.open();
  const violations: string[] = [];
  const answered = new Map<string, string>();
  let [left, final] = [wanted, 0];
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
        const texts = new Set([...both, again].map((answer) => answer?.text));
        if (texts.size !== 1) violations.push(`${body.activity_id}: ${texts.size} different answers`);
        if (again?.status !== 200) violations.push(`${body.activity_id}: ${again?.status ?? "no answer"}`);
        else {
          answered.set(body.activity_id, again.text);
          if (assessmentIn(again).is_final) final++;
        }
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => run(random.fork(`client ${index}`))));
    violations.push(...(await audit(stand, tenant.tenant_id, answered)));
    return { answers: answered.size, final, violations };
  } finally {
    await stand.close();
  }
}
