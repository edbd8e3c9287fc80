import { expect, test } from "vitest";
import { Places } from "./places.ts";

test("places: limited in total and for each key, until they are given back", () => {
  const places = new Places();
  const enter = (key: string) => places.enter({ limit: "exports", key, max: 3, ofOneMax: 2 });
  expect([enter("a"), enter("a"), enter("a"), enter("b"), enter("c")]).toEqual([true, true, false, true, false]);
  places.leave("exports", "a");
  expect([enter("c"), enter("a")]).toEqual([true, false]);
});
