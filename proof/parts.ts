import { assessments } from "./assessments.ts";
import { backup } from "./backup.ts";
import { badInput } from "./bad-input.ts";
import { cluster } from "./cluster.ts";
import { crashes } from "./crashes.ts";
import { cuts } from "./cuts.ts";
import { forged } from "./forged.ts";
import { fullAndSlow } from "./full-and-slow.ts";
import { histories, workerHistories } from "./histories.ts";
import { isolation } from "./isolation.ts";
import { mutation } from "./mutation.ts";
import type { Part } from "./part.ts";
import { rolling } from "./rolling.ts";
import { standby } from "./standby.ts";
import { tokens } from "./tokens.ts";

// In the order of docs/PROOF.md.
export const parts: Part[] = [
  histories,
  workerHistories,
  crashes,
  cuts,
  fullAndSlow,
  assessments,
  rolling,
  standby,
  cluster,
  isolation,
  badInput,
  tokens,
  forged,
  mutation,
  backup,
];
