import type { Random } from "../../service/src/simulator/random.ts";
import type { Scale } from "../part.ts";
import type { Stand } from "../stand.ts";
import { Ground, type World } from "./ground.ts";
import type { Ledger } from "./ledger.ts";
import { shapes, type Shape } from "./page-event.ts";

export type Setting = { stand: Stand; port: number; ledger: Ledger; random: Random; scale: Scale };

// One attack in one world. `isTimed`: runs alone, because it measures time.
export type Trial = { attack: string; world: World; isTimed?: true; run: (setting: Setting) => Promise<void> };

export function openGround({ stand, port }: Setting, world: World): Promise<Ground> {
  return Ground.open(stand, port, world);
}

// Stories take seconds, so that a test tells each of them in one shape, and the full proof in both.
export function shapesOf({ scale, random }: Setting): readonly Shape[] {
  return scale === "full" ? shapes : [random.pick(shapes)];
}
