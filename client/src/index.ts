export { CasehoundClient, type ClientOptions } from "./client.ts";
export type { CallOptions, ListId, ListItem, OperationId } from "./call.ts";
export type { CloseOutcome, Closing, Decide } from "./close.ts";
export { newKey } from "./key.ts";
export { Aborted, ProblemError, TimedOut, WrongBaseAddress, type Problem } from "./problem.ts";
export { isPassing } from "./retries.ts";
export type { FollowedEvent } from "./stream.ts";
export type { Credentials, Hooks } from "./transport.ts";
export type * from "./operations.ts";
