import type { Random } from "@casehound/simulator/random";
import type { Scale } from "../part.ts";
import type { Stand } from "../stand.ts";
import { Ground, type World } from "./ground.ts";
import type { Ledger } from "./ledger.ts";
import { shapes, type Shape } from "./page-event.ts";

export type Setting = { stand: Stand; port: number; ledger: Ledger; random: Random; scale: Scale };

// One attack in one world. `isFlood`: the attack tests the collector's quotas or measures time, so it runs alone and with quotas.
// The others run without quotas, because an attacker with more time or more addresses than a proof would get as much through.
// `isOnlyFull`: a variant of another attack, which a test leaves out.
export type Trial = { attack: string; world: World; isFlood?: true; isOnlyFull?: true; run: (setting: Setting) => Promise<void> };

export function openGround({ stand, port }: Setting, world: World): Promise<Ground> {
  return Ground.open(stand, port, world);
}

// Stories take seconds each, so a test runs each of them in one format and the full proof runs both.
export function shapesOf({ scale, random }: Setting): readonly Shape[] {
  return scale === "full" ? shapes : [random.pick(shapes)];
}
