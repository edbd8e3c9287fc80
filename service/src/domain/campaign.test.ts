import { expect, test } from "vitest";
import { Campaigns } from "./campaign.ts";

const hour = 60 * 60 * 1000;
const start = Date.UTC(2026, 10, 15, 20);

test("campaign: findings that follow each other within 12 hours are one campaign, however long it lasts", () => {
  const campaigns = new Campaigns({});
  const seen = Array.from({ length: 10 }, (_, index) => campaigns.see("slow", start + index * 12 * hour, index));
  expect(new Set(seen.map(({ subject }) => subject))).toEqual(new Set(["campaign:slow:2026-11-15T20:00Z"]));
  expect(seen.at(-1)?.size).toBe(10);
});

test("campaign: after more than 12 quiet hours the next attack is a new one, and each rule has its own", () => {
  const campaigns = new Campaigns({});
  campaigns.see("slow", start, 0);
  expect(campaigns.see("slow", start + 12 * hour + 1, 0)).toEqual({ subject: "campaign:slow:2026-11-16T08:00Z", size: 1 });
  expect(campaigns.see("other", start + 13 * hour, 0)).toEqual({ subject: "campaign:other:2026-11-16T09:00Z", size: 1 });
});

test("campaign: an event that was reported days later neither joins the campaign that is under way nor ends it", () => {
  const campaigns = new Campaigns({ slow: [start, start, 5] });
  expect(campaigns.see("slow", start - 3 * 24 * hour, 7)).toEqual({ subject: "campaign:slow:2026-11-12", size: 0 });
  expect(campaigns.changed()).toBeNull();
  expect(campaigns.see("slow", start - hour, 7)).toEqual({ subject: "campaign:slow:2026-11-15T20:00Z", size: 6 });
  expect(campaigns.changed()).toEqual({ slow: [start, start, 6, [7]] });
});

test("campaign: reading the campaign counts no finding", () => {
  const campaigns = new Campaigns({ slow: [start, start, 5] });
  expect(campaigns.peek("slow", start + hour)).toBe("campaign:slow:2026-11-15T20:00Z");
  expect(campaigns.peek("slow", start + 20 * hour)).toBe("campaign:slow:2026-11-16");
  expect(campaigns.changed()).toBeNull();
});

test("campaign: a target counts once, however often it is attacked, so nobody can make a campaign look large with one account", () => {
  const campaigns = new Campaigns({});
  const sizes = [1, 1, 2, 1, 2, 3].map((target) => campaigns.see("slow", start, target).size);
  expect(sizes).toEqual([1, 1, 2, 2, 2, 3]);
  for (let target = 4; target <= 200; target++) campaigns.see("slow", start, target);
  expect(campaigns.see("slow", start, 0).size).toBe(201);
  expect(campaigns.changed()?.["slow"]?.[3]).toHaveLength(64);
});

test("campaign: a rule may have an id that every object inherits as a name", () => {
  const campaigns = new Campaigns({});
  expect(campaigns.peek("constructor", start)).toBe("campaign:constructor:2026-11-15");
  expect(campaigns.see("constructor", start, 1)).toEqual({ subject: "campaign:constructor:2026-11-15T20:00Z", size: 1 });
});
