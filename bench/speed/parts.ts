import { activities } from "./activities.ts";
import { assessments } from "./assessments.ts";
import { cluster } from "./cluster.ts";
import { growth } from "./growth.ts";
import { lists } from "./lists.ts";
import { load } from "./load.ts";
import { models } from "./models.ts";
import type { Part } from "./part.ts";
import { profiles } from "./profiles.ts";
import { reads } from "./reads.ts";
import { search } from "./search.ts";
import { starts } from "./starts.ts";
import { writes } from "./writes.ts";

// In the order of docs/BENCHMARK.md. The first four share a service, and the fourth stops it. The large stores come last, because
// PostgreSQL cleans up after them for a while.
export const parts: Part[] = [
  reads,
  writes,
  load,
  models,
  activities,
  assessments,
  profiles,
  starts,
  cluster,
  lists,
  search,
  growth,
];
