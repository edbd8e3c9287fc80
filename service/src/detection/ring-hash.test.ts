import { expect, test } from "vitest";
import { collidingNames } from "../../test/colliding-names.ts";
import { SmallWorld, type Deed } from "../../test/small-world.ts";
import { ringHash, shortRingHash } from "./ring-hash.ts";

const key = "a tenant's secret";
const other = "another tenant's secret";

test("ring hash: of 200,000 ids none hashes to 0, and no more collide than by chance", () => {
  const seen = new Set<number>();
  for (let index = 0; index < 200_000; index++) {
    const hash = ringHash(`user-${index}`, key);
    if (hash === 0 || shortRingHash(`user-${index}`, key) === 0) throw new Error(`user-${index} hashes to 0`);
    seen.add(hash);
  }
  // About 5 collisions are expected by chance.
  expect(200_000 - seen.size).toBeLessThan(20);
  const short = new Set(Array.from({ length: 4096 }, (_, index) => shortRingHash(`10.0.${index >> 8}.${index & 255}`, key)));
  expect(4096 - short.size).toBeLessThan(6);
});

test("ring hash: names that were chosen to collide are counted separately", () => {
  const names = collidingNames();
  const world = new SmallWorld();
  const signups = names.map((website_account_id, minute): Deed => ({
    minute,
    type: "signup",
    website_account_id,
    device_id: "d",
  }));
  expect(world.seeAll(signups)["device.signups_24h"]).toBe(names.length);
});

test("ring hash: names collide under one tenant's key without colliding under another's", () => {
  const byHash = new Map<number, string>();
  for (let index = 0; ; index++) {
    const name = `user-${index}`;
    const twin = byHash.get(ringHash(name, key));
    if (twin === undefined) {
      byHash.set(ringHash(name, key), name);
      continue;
    }
    expect(ringHash(name, other)).not.toBe(ringHash(twin, other));
    return;
  }
});
