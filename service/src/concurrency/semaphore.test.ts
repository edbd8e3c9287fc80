import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Semaphore, type SemaphoreLimits } from "./semaphore.ts";

// Tasks that end when the test says so.
function stage(limits: SemaphoreLimits) {
  const semaphore = new Semaphore(limits);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const tasks: Promise<void>[] = [];
  const come = (...names: string[]) => {
    for (const name of names)
      tasks.push(
        semaphore.run(name.slice(0, 1), () => {
          began.push(name);
          return new Promise((end) => ends.push(end));
        }),
      );
  };
  const endOne = async () => {
    ends.shift()?.();
    await setImmediate();
  };
  const endAll = async () => {
    const outcomes = Promise.allSettled(tasks);
    while (ends.length > 0) await endOne();
    return outcomes;
  };
  return { semaphore, began, come, endOne, endAll };
}

test("semaphore: keys take turns, and the tasks of a key keep their order", async () => {
  const { semaphore, began, come, endAll } = stage({ atOnceMax: 1 });
  come("a1", "a2", "a3", "b1", "b2", "c1");
  await endAll();
  expect(began).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  expect(semaphore.size).toBe(0);
});

test("semaphore: a key that may run only one task at a time queues behind every key that waited meanwhile", async () => {
  const { began, come, endAll } = stage({ atOnceMax: 1, atOnceOfOneMax: 1 });
  come("a1", "a2", "b1", "c1");
  await endAll();
  expect(began).toEqual(["a1", "b1", "c1", "a2"]);
});

test("semaphore: a key at its own limit leaves the free places to the others", async () => {
  const { began, come, endOne, endAll } = stage({ atOnceMax: 3, atOnceOfOneMax: 2 });
  come("a1", "a2", "a3", "b1", "b2");
  expect(began).toEqual(["a1", "a2", "b1"]);
  await endOne();
  expect(began.slice(3)).toEqual(["b2"]);
  await endOne();
  expect(began.slice(4)).toEqual(["a3"]);
  await endAll();
});

test("semaphore: a full queue refuses, and a refused caller leaves nothing behind", async () => {
  const full = new Error("full");
  const { semaphore, began, come, endAll } = stage({ atOnceMax: 1, waitingMax: 2, waitingOfOneMax: 1, refusal: () => full });
  come("a1", "a2");
  expect(() => semaphore.enter("a")).toThrow(full);
  come("b1");
  expect(() => semaphore.enter("c")).toThrow(full);
  expect(semaphore.size).toBe(2);
  await endAll();
  expect(began).toEqual(["a1", "a2", "b1"]);
  expect(semaphore.size).toBe(0);
});

test("semaphore: in a full queue, a newcomer replaces the last waiter of the longest line", async () => {
  const full = new Error("full");
  const { semaphore, began, come, endAll } = stage({ atOnceMax: 1, waitingMax: 5, refusal: () => full });
  come("a1", "a2", "a3", "a4", "b1", "b2", "c1", "d1");
  // Now every line has one waiter, but b has two. So b itself gets no more, and neither does c.
  expect(() => semaphore.enter("b")).toThrow(full);
  expect(() => semaphore.enter("c")).toThrow(full);
  come("e1");
  expect(() => semaphore.enter("f")).toThrow(full);
  const outcomes = await endAll();
  expect(began).toEqual(["a1", "a2", "b1", "c1", "d1", "e1"]);
  expect(outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []))).toEqual([full, full, full]);
  expect(semaphore.size).toBe(0);
});

test("semaphore: for any tasks, no limit is exceeded, every caller is served or refused, and short queues are not refused in favour of long ones", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c", "d", "end"), { maxLength: 60 }), async (steps) => {
      const [waitingMax, waitingOfOneMax] = [5, 4];
      const semaphore = new Semaphore({ atOnceMax: 2, waitingMax, waitingOfOneMax });
      const waiting: string[] = [];
      const running: (() => void)[] = [];
      let left = 0;
      const drop = (key: string) => waiting.splice(waiting.lastIndexOf(key), 1);
      const length = (key: string) => waiting.filter((each) => each === key).length;
      for (const step of steps) {
        if (step === "end") {
          running.shift()?.();
          await setImmediate();
          continue;
        }
        const longest = Math.max(...["a", "b", "c", "d"].map(length));
        const own = length(step);
        const hasRoom = own < waitingOfOneMax && (waiting.length < waitingMax || longest > own + 1);
        const isRefusable = running.length === 2 && !hasRoom;
        const start = () => running.push(() => (left++, semaphore.leave(step)));
        let isRefused = false;
        try {
          const turn = semaphore.enter(step);
          if (turn) waiting.push(step);
          else start();
          turn?.then(
            () => (waiting.splice(waiting.indexOf(step), 1), start()),
            () => (left++, drop(step)),
          );
        } catch {
          isRefused = true;
          left++;
        }
        await setImmediate();
        expect(isRefused).toBe(isRefusable);
        expect(running.length).toBeLessThanOrEqual(2);
        expect(waiting.length).toBeLessThanOrEqual(waitingMax);
      }
      while (running.length > 0) {
        running.shift()?.();
        await setImmediate();
      }
      expect(left).toBe(steps.filter((step) => step !== "end").length);
      expect([semaphore.size, waiting.length]).toEqual([0, 0]);
    }),
    { numRuns: 100 },
  );
});

test("semaphore: a caller that waited too long is refused, and its place goes to the next key", async () => {
  const late = new Error("late");
  const { semaphore, come, endAll } = stage({ atOnceMax: 1, waitMsMax: -1, refusal: () => late });
  come("a1", "b1", "c1");
  const outcomes = await endAll();
  expect(outcomes.map((each) => each.status === "rejected" && each.reason)).toEqual([false, late, late]);
  expect(semaphore.size).toBe(0);
});

test("semaphore: a task that fails gives its place back, and nobody can leave a place twice", async () => {
  const semaphore = new Semaphore({ atOnceMax: 1 });
  await expect(semaphore.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await semaphore.run("b", async () => "done")).toBe("done");
  expect(() => semaphore.leave("a")).toThrow("a place was released that nobody had taken");
});
