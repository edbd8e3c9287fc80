import type { Random } from "@casehound/simulator/random";
import type { Scale } from "../part.ts";
import type { Stand } from "../stand.ts";
import { Ground, type World } from "./ground.ts";
import type { Ledger } from "./ledger.ts";
import { shapes, type Shape } from "./page-event.ts";

export type Setting = { stand: Stand; port: number; ledger: Ledger; random: Random; scale: Scale };

// One attack in one world. `isFlood`: is about the collector's quotas, or measures time, so it runs alone and with quotas. The
// others run without: an attacker who has more time or more addresses than a proof gets as much through.
export type Trial = { attack: string; world: World; isFlood?: true; run: (setting: Setting) => Promise<void> };

export function openGround({ stand, port }: Setting, world: World): Promise<Ground> {
  return Ground.open(stand, port, world);
}

// Stories take seconds, so that a test tells each of them in one shape, and the full proof in both.
export function shapesOf({ scale, random }: Setting): readonly Shape[] {
  return scale === "full" ? shapes : [random.pick(shapes)];
}
