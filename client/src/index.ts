export { CasehoundClient, isPassing, type ClientOptions } from "./client.ts";
export { newKey } from "./key.ts";
export { ProblemError, UnexpectedAnswer, type Problem } from "./problem.ts";
export type * from "./operations.ts";
export type { FollowedEvent } from "./stream.ts";
