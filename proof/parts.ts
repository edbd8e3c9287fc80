import type { Part } from "./part.ts";
import { tokens } from "./tokens.ts";

// In the order of docs/PROOF.md.
export const parts: Part[] = [tokens];
