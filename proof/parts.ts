import { isolation } from "./isolation.ts";
import type { Part } from "./part.ts";

// In the order of docs/PROOF.md.
export const parts: Part[] = [isolation];
