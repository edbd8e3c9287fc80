import { histories } from "./histories.ts";
import type { Part } from "./part.ts";

// In the order of docs/PROOF.md.
export const parts: Part[] = [histories];
