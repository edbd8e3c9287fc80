import { Type } from "typebox";

// Definitions that several nouns share. Lengths count characters (code points), as PostgreSQL and JSON Schema do.
export const idCharactersMax = 512;

export const Time = Type.String({
  format: "date-time",
  description: "UTC, YYYY-MM-DDTHH:mm:ss.sssZ",
  examples: ["2026-11-15T09:30:00.000Z"],
});

export const Uuid = Type.String({ format: "uuid" });
