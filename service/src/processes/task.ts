import type { TopicCounts } from "../concurrency/peers.ts";
import type { Wanted } from "../concurrency/places.ts";
import type { Snapshot } from "../api/metrics.ts";
import type { Role } from "../config.ts";
import type { EmbeddedAddress } from "../db/postgres/embedded.ts";

// The name of the variable in which a worker finds its task. Everything else it reads as the first process does.
export const taskVariable = "CASEHOUND_TASK";

// What one worker does, and what only the first process knows.
export type Task = {
  name: string;
  roles: Role[];
  port: number;
  publicUrl: string;
  // Of the embedded PostgreSQL, if it is used.
  address: EmbeddedAddress | null;
  // How many workers share the limits of the API.
  shares: number;
  writersMax: number;
  salt: string;
};

export type ToWorker =
  | { kind: "listen" }
  | { kind: "stop" }
  | { kind: "measure"; id: number }
  | { kind: "counts"; counts: TopicCounts[] }
  | { kind: "answer"; id: number; isGranted: boolean };

export type FromWorker =
  // Everything is ready except that it does not listen yet.
  | { kind: "built" }
  | { kind: "ready" }
  // `isOperators`: one line for the operator. `isAway`: the database cannot be used now.
  | { kind: "fault"; text: string; isOperators: boolean; isAway: boolean }
  | { kind: "measured"; id: number; snapshot: Snapshot }
  | { kind: "counts"; counts: TopicCounts[] }
  | { kind: "ask"; id: number; wanted: Wanted }
  | { kind: "leave"; limit: string; key: string };
