import { expect, test } from "vitest";
import { timesOf, type Profile } from "./profile.ts";

const node = (id: number, functionName: string, url = "") => ({ id, callFrame: { functionName, url } });
const profile: Profile = {
  nodes: [
    node(1, "(idle)"),
    node(2, "(garbage collector)"),
    node(3, "answer", "file:///some/where/service/src/api/http/run.ts"),
    node(4, "parse", "file:///some/where/node_modules/pg-protocol/dist/parser.js"),
    node(5, "start", "file:///some/where/service/src/service.ts"),
  ],
  samples: [5, 1, 3, 2, 3, 4, 5],
  timeDeltas: [100, 100, 30, 20, 30, 20, 100],
  startTime: 1_000,
};

test("profile: counts a function's own time within the given span, and no idle time", () => {
  const { areas, functions } = timesOf(profile, { from: 1_150, to: 1_300 });
  expect([...areas]).toEqual([
    ["service: api", 0.6],
    ["garbage collection", 0.2],
    ["PostgreSQL driver", 0.2],
  ]);
  expect([...functions.keys()]).toEqual([
    "answer, service/src/api/http/run.ts",
    "(garbage collector)",
    "parse, pg-protocol/dist/parser.js",
  ]);
});

test("profile: a span without a sample throws, because its shares would be undefined", () => {
  expect(() => timesOf(profile, { from: 5_000, to: 6_000 })).toThrow("nothing was sampled");
});
