import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PartFinder } from "./part-finder.ts";

test("part finder: finds a text exactly if it contains a part that was set, not deleted and has not expired", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 });
  const step = fc.record({ part: word, isSet: fc.boolean(), untilMs: fc.integer({ min: 0, max: 2 }) });
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.array(text, { maxLength: 5 }), (steps, texts) => {
      const finder = new PartFinder();
      const known = new Map<string, number>();
      for (const { part, isSet, untilMs } of steps) {
        if (isSet) finder.set(part, untilMs);
        else finder.delete(part);
        if (isSet) known.set(part, untilMs);
        else known.delete(part);
      }
      for (const each of texts) {
        const isFound = [...known].some(([part, untilMs]) => untilMs > 0 && each.includes(part));
        expect(finder.has(each, 0)).toBe(isFound);
      }
    }),
    { numRuns: 1_000 },
  );
});
