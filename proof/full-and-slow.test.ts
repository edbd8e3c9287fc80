import { expect, test } from "vitest";
import { leaksOf, type Holding } from "./full-and-slow/holding.ts";
import { fullAndSlow } from "./full-and-slow.ts";
import { proveShort } from "./prove.ts";

test("proof of full and slow: each disturbance gets its response, others continue, and nothing is leaked", async () => {
  const figures = await proveShort(fullAndSlow);
  expect(figures["trials"]).toBe(3);
  expect(figures["no free connection: responses"]).toMatch(/× 502/);
  expect(figures["a locked table: responses"]).toMatch(/× 409/);
  expect(figures["idle connections: connections"]).toBe(200);
  expect(figures["clients that disconnect"]).toBe(48);
});

test("proof of full and slow: detects a leaked socket, descriptor, timer or memory", () => {
  const before: Holding = {
    heapBytes: 80e6,
    descriptors: 40,
    resources: { TCPSocketWrap: 16, TCPServerWrap: 1, Timeout: 20 },
    databaseConnections: 10,
    clientConnections: 6,
  };
  const { resources } = before;
  const namesOf = (after: Holding) => leaksOf(before, after).map((leak) => leak.split(":")[0]);
  expect(namesOf(before)).toEqual([]);
  // Pools may grow to their limit.
  const grown = { ...before, descriptors: 48, databaseConnections: 18, resources: { ...resources, TCPSocketWrap: 24 } };
  expect(namesOf(grown)).toEqual([]);
  expect(namesOf({ ...before, resources: { ...resources, TCPSocketWrap: 17 } })).toEqual(["handles TCPSocketWrap"]);
  expect(namesOf({ ...before, resources: { ...resources, FSEventWrap: 1 } })).toEqual(["handles FSEventWrap"]);
  expect(namesOf({ ...before, resources: { ...resources, Timeout: 60 } })).toEqual(["timers"]);
  expect(namesOf({ ...before, descriptors: 41 })).toEqual(["file descriptors without connections"]);
  expect(namesOf({ ...before, heapBytes: 120e6 })).toEqual(["bytes on the heap"]);
  expect(namesOf({ ...grown, databaseConnections: 22 })).toContain("connections to the database");
});
