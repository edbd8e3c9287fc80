import type { Operations, operations } from "./operations.ts";

export type OperationId = keyof Operations;
type Present<T> = { [Name in keyof T as T[Name] extends undefined ? never : Name]: T[Name] };

export type CallOptions = {
  // For operations that want one: given to repeat an earlier call, else made anew for each.
  idempotencyKey?: string;
  signal?: AbortSignal;
  // Of one attempt.
  timeoutMs?: number;
};

export type Input<Id extends OperationId> = Present<Pick<Operations[Id], "params" | "body">> & {
  query?: Operations[Id]["query"];
} & CallOptions;

type Table = typeof operations;

// The lists that come in pages.
export type ListId = { [Id in OperationId]: Table[Id] extends { items: string } ? Id : never }[OperationId];
type Items<Id extends ListId> = Operations[Id]["data"][Table[Id]["items"] & keyof Operations[Id]["data"]];
export type ListItem<Id extends ListId> = Items<Id> extends (infer Item)[] ? Item : never;
