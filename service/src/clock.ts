import { randomBytes } from "node:crypto";
import { uuidV7 } from "./domain/uuid.ts";

// The only source of time and ids. Everything below gets them as arguments.
export const clock = {
  now: () => new Date().toISOString(),
  newId: (at?: string) => uuidV7(at === undefined ? Date.now() : Date.parse(at), randomBytes(10)),
};
