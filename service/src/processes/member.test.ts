import cluster from "node:cluster";
import { pino } from "pino";
import { expect, test } from "vitest";
import { LineRelay } from "./line-relay.ts";
import { Member } from "./member.ts";

test("worker: one whose process cannot be started counts as a death, and after five of them the service gives up", async () => {
  // Without its folder there is no process. The same happens if the machine has no room for another one.
  cluster.setupPrimary({ exec: "worker.ts", cwd: "/nonexistent", stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let deaths = 0;
  const hopeless = await new Promise<Error>((resolve) => {
    const output = { write: () => {} };
    const member = new Member({
      task: { name: "api-1", roles: ["api"], port: 0, publicUrl: "", address: null, salt: "", shares: 1, writersMax: 2 },
      env: {},
      log: pino({ level: "silent" }),
      newRelay: () => new LineRelay({ output, onStray: null }),
      onMessage: () => {},
      onDeath: () => deaths++,
      onHopeless: resolve,
    });
    member.start();
  });
  expect(hopeless.message).toBe(
    "the worker api-1 ended 5 times in a row before it had served for 10 s (no process, see its log)",
  );
  expect(deaths).toBe(5);
});
