import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher, type BatcherOptions } from "./batcher.ts";

// Batches that end when the test says so. An item's outcome is its double.
function stage(options: Partial<BatcherOptions<number>> = {}) {
  const ran: [key: string, items: number[]][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const batcher = new Batcher<number, number>(
    (key, items) =>
      new Promise((resolve, reject) => {
        ran.push([key, items]);
        ends.push((error) => (error ? reject(error) : resolve(items.map((each) => each * 2))));
      }),
    { togetherMax: 10, atOnceMax: 1, ...options },
  );
  const add = (key: string, ...items: number[]) => items.map((item) => batcher.add(key, item));
  const end = async (index: number, error?: Error) => {
    ends[index]?.(error);
    await setImmediate();
  };
  return { add, ran, end };
}

test("batcher: items of one turn go together, later ones in the next batch, and each gets its own outcome", async () => {
  const { add, ran, end } = stage();
  const added = add("a", 1, 2);
  await Promise.resolve();
  added.push(...add("a", 3));
  expect(ran).toEqual([]);
  await setImmediate();
  added.push(...add("a", 4, 5));
  await setImmediate();
  expect(ran).toEqual([["a", [1, 2, 3]]]);
  await end(0);
  await end(1);
  expect(await Promise.all(added)).toEqual([2, 4, 6, 8, 10]);
  expect(ran.slice(1)).toEqual([["a", [4, 5]]]);
});

test("batcher: a turn that brings more than fits fills as many batches as may run at once", async () => {
  const { add, ran, end } = stage({ togetherMax: 2, atOnceMax: 2 });
  const added = add("a", 1, 2, 3, 4, 5);
  await setImmediate();
  expect(ran.map(([, items]) => items)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  for (const index of [1, 0, 2]) await end(index);
  expect(await Promise.all(added)).toEqual([2, 4, 6, 8, 10]);
});

test("batcher: without a limit, a batch that ends does not cut short the turn that is being collected", async () => {
  const { add, ran, end } = stage({ atOnceMax: Infinity, besideMin: 0 });
  const added = add("a", 1);
  await setImmediate();
  added.push(...add("a", 2));
  const ended = end(0);
  await Promise.resolve();
  await Promise.resolve();
  added.push(...add("a", 3));
  await ended;
  expect(ran).toEqual([
    ["a", [1]],
    ["a", [2, 3]],
  ]);
  await end(1);
  expect(await Promise.all(added)).toEqual([2, 4, 6]);
});

test("batcher: an error reaches the items of its batch and no other", async () => {
  const { add, ran, end } = stage();
  const outcomes = Promise.allSettled([...add("a", 1, 2), ...add("b", 3)]);
  await setImmediate();
  const later = add("a", 4);
  await end(0, new Error("no"));
  await end(1);
  await end(2);
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await Promise.all(later)).toEqual([8]);
  expect(ran).toHaveLength(3);
});

test("batcher: keys take turns if the batches of all are bounded", async () => {
  const { add, ran, end } = stage({ togetherMax: 1, allAtOnceMax: 1 });
  for (const [key, ...items] of [["a", 1, 2, 3] as const, ["b", 4, 5] as const, ["c", 6] as const]) void add(key, ...items);
  await setImmediate();
  for (let index = 0; index < 6; index++) await end(index);
  expect(ran.map(([key]) => key)).toEqual(["a", "b", "c", "a", "b", "a"]);
});
