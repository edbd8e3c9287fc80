export { CasehoundClient, type ClientOptions } from "./client.ts";
export { ProblemError, type Problem } from "./problem.ts";
export type * from "./operations.ts";
export type { FollowedEvent } from "./stream.ts";
