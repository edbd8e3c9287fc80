import type { IncomingMessage } from "node:http";
import type { Reply } from "./problem.ts";

// The path's parameters and the query, as sent.
export type SystemCall = { params: Record<string, string>; query: string };

// An operation that needs no token and no scope. It belongs to one role of the process, or to all of them if `role` is not set.
export type SystemOperation = {
  id: string;
  method: "GET" | "POST" | "OPTIONS";
  path: string;
  summary: string;
  role?: "api" | "collector";
  handle: (request: IncomingMessage, onBody: () => void, call: SystemCall) => Promise<Reply> | Reply;
};
