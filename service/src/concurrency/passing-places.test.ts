import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { PassingPlaces } from "./passing-places.ts";

const limits = { atOnceMax: 1, retriesMax: 1, slowAtOnceMax: 1, slowAfterMs: 5, slowForMs: 60_000 };
const often = { interval: 1, timeout: 20_000 };

// Tasks that end when the test says so. The first letter of a task is its key, and `again` means a retry.
function stage(own: Partial<typeof limits> = {}) {
  const places = new PassingPlaces({ ...limits, ...own });
  const running = new Map<string, () => void>();
  const come = async (...tasks: string[]) => {
    for (const task of tasks)
      void places.run(
        task.slice(0, 1),
        async () => {
          await new Promise<void>((end) => running.set(task, end));
          running.delete(task);
        },
        task.endsWith("again"),
      );
    await setImmediate();
  };
  const end = async (...tasks: string[]) => {
    for (const task of tasks) running.get(task)?.();
    await setImmediate();
  };
  const names = () => [...running.keys()].toSorted();
  return { running, come, end, names };
}

test("places: tasks wait in order of arrival while as many as allowed are running", async () => {
  const { running, come, end } = stage({ atOnceMax: 2, slowAfterMs: 60_000 });
  await come("a1", "b1", "c1", "a2");
  expect([...running.keys()]).toEqual(["a1", "b1"]);
  await end("b1");
  expect([...running.keys()]).toEqual(["a1", "c1"]);
  await end("a1");
  expect([...running.keys()]).toEqual(["c1", "a2"]);
  await end("c1", "a2");
});

test("places: a slow task passes its place on, and the next one does so as soon as there is room for slow tasks", async () => {
  const { come, end, names } = stage({ atOnceMax: 2 });
  await come("a1", "b1", "c1", "d1");
  await expect.poll(names, often).toEqual(["a1", "b1", "c1"]);
  await end("a1");
  await expect.poll(names, often).toEqual(["b1", "c1", "d1"]);
  await end("b1", "c1", "d1");
  await expect.poll(names, often).toEqual([]);
});

test("places: the next task of a slow key takes no place of the others", async () => {
  const { come, end, names } = stage();
  await come("a1", "b1", "c1");
  await expect.poll(names, often).toEqual(["a1", "b1"]);
  await end("a1");
  await expect.poll(names, often).toEqual(["b1", "c1"]);
  // b1 has the place for slow tasks, so a2 waits for it, and d1 gets the next ordinary place.
  await come("a2", "d1");
  await end("c1");
  await expect.poll(names, often).toEqual(["b1", "d1"]);
  await end("b1", "d1");
  await expect.poll(names, often).toEqual(["a2"]);
  await end("a2");
});

test("places: retries leave room for first attempts, also while slow ones run", async () => {
  const { come, end, running } = stage({ atOnceMax: 2, slowAfterMs: 60_000 });
  await come("a-again", "b-again", "c1", "d1");
  expect([...running.keys()]).toEqual(["a-again", "c1"]);
  await end("c1");
  expect([...running.keys()]).toEqual(["a-again", "d1"]);
  await end("a-again", "d1");
  expect([...running.keys()]).toEqual(["b-again"]);
  await end("b-again");
  const slow = stage();
  await slow.come("a-again", "b-again");
  await expect.poll(slow.names, often).toEqual(["a-again", "b-again"]);
  await slow.end("a-again", "b-again");
});

test("places: a key is slow for a limited time", async () => {
  const { come, end, names } = stage({ slowForMs: 0 });
  await come("a1", "b1");
  await expect.poll(names, often).toEqual(["a1", "b1"]);
  await end("a1");
  await come("c1");
  await expect.poll(names, often).toEqual(["b1", "c1"]);
  await end("c1");
  await come("a2");
  await expect.poll(names, often).toEqual(["a2", "b1"]);
  await end("a2", "b1");
});

test("places: a task that fails gives its place back", async () => {
  const places = new PassingPlaces(limits);
  await expect(places.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await places.run("a", async () => "done")).toBe("done");
});
