import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

test.each([
  "2026-11-15T09:30:00.123Z",
  "2026-11-15T09:30:00.120Z",
  "2026-11-15T09:30:00.100Z",
  "2026-11-15T09:30:00.000Z",
  "1999-12-31T23:59:59.999Z",
  "0001-01-01T00:00:00.001Z",
  "9999-12-31T23:59:59.999Z",
])("times: %s is returned unchanged by the database", async (time) => {
  const [row] = await service.current.database.query<{ at: string }>(statement("select $1::timestamptz(3) as at", [time]));
  expect(row?.at).toBe(time);
});
