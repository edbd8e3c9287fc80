import { crashes } from "./crashes.ts";
import { cuts } from "./cuts.ts";
import { fullAndSlow } from "./full-and-slow.ts";
import type { Part } from "./part.ts";

// In the order of docs/PROOF.md.
export const parts: Part[] = [crashes, cuts, fullAndSlow];
