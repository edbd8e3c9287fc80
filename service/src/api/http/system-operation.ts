import type { IncomingMessage } from "node:http";
import type { Reply } from "./problem.ts";

// The path's parameters and the query, as they were sent.
export type SystemCall = { params: Record<string, string>; query: string };

// What needs no token and no scope. Each belongs to one of the process's roles, or is there in any.
export type SystemOperation = {
  id: string;
  method: "GET" | "POST" | "OPTIONS";
  path: string;
  summary: string;
  role?: "api" | "collector";
  handle: (request: IncomingMessage, onBody: () => void, call: SystemCall) => Promise<Reply> | Reply;
};
