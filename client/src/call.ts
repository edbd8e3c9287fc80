import type { Operations } from "./operations.ts";
import type { operations } from "./routes.ts";

export type OperationId = keyof Operations;
export type Body<Id extends OperationId> = Operations[Id]["body"];
export type Query<Id extends OperationId> = Operations[Id]["query"];
export type Answer<Id extends OperationId> = Promise<Operations[Id]["data"]>;
type Present<T> = { [Name in keyof T as T[Name] extends undefined ? never : Name]: T[Name] };

export type CallOptions = {
  // For operations that take an idempotency key. Pass one to repeat an earlier call; otherwise each call creates its own.
  idempotencyKey?: string;
  signal?: AbortSignal;
  // The time limit of one attempt.
  timeoutMs?: number;
};

export type Input<Id extends OperationId> = Present<Pick<Operations[Id], "params" | "body">> & {
  query?: Query<Id>;
} & CallOptions;

type Table = typeof operations;

// The lists that are returned in pages.
export type ListId = { [Id in OperationId]: Table[Id] extends { items: string } ? Id : never }[OperationId];
type Items<Id extends ListId> = Operations[Id]["data"][Table[Id]["items"] & keyof Operations[Id]["data"]];
export type ListItem<Id extends ListId> = Items<Id> extends (infer Item)[] ? Item : never;
