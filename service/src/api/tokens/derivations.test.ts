import { expect, test } from "vitest";
import { Derivations } from "./derivations.ts";

const limits = { atOnceMax: 2, waitingMax: 4, waitingOfOneMax: 3, detail: "Come back." };

// Work that ends when the test says so.
function stage() {
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((end) => ends.push(end));
    running--;
  };
  return { work, endOne: () => ends.shift()?.(), most: () => most };
}

test("derivations: never more run at once than allowed, even if one begins just as another ends", async () => {
  const { work, endOne, most } = stage();
  const derivations = new Derivations(limits);
  const all = [derivations.run("a", work), derivations.run("a", work), derivations.run("b", work)];
  // Each end admits one from the queue. A newcomer at that moment must queue too.
  for (let round = 0; round < 20; round++) {
    endOne();
    for (let turn = 0; turn < round % 5; turn++) await Promise.resolve();
    all.push(derivations.run("c", work));
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
  for (let left = 0; left < 5; left++) {
    endOne();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
  await Promise.all(all);
  expect(most()).toBe(2);
});

test("derivations 429: one key can fill only a part of the queue, and loses its last places to keys that have fewer", async () => {
  const { work, endOne } = stage();
  const derivations = new Derivations(limits);
  const all = ["a", "a", "a", "a", "a"].map((key) => derivations.run(key, work));
  await expect(derivations.run("a", work)).rejects.toMatchObject({ code: "rate-limited", headers: { "retry-after": "1" } });
  all.push(derivations.run("b", work), derivations.run("c", work), derivations.run("d", work));
  await expect(Promise.all(all.splice(3, 2))).rejects.toMatchObject({ code: "rate-limited" });
  await expect(derivations.run("e", work)).rejects.toMatchObject({ code: "rate-limited" });
  for (let left = 0; left < 6; left++) {
    endOne();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
  await Promise.all(all);
});
