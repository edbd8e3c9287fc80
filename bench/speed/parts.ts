import { load } from "./load.ts";
import type { Part } from "./part.ts";
import { reads } from "./reads.ts";
import { writes } from "./writes.ts";

// In the order of docs/BENCHMARK.md.
export const parts: Part[] = [reads, writes, load];
