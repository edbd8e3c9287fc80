import { expect, test } from "vitest";
import { Peers } from "./peers.ts";

type Heard = [key: string, units: number][];

function openPeer(): { peer: Peers; heard: Heard; count: (key: string, units: number) => void } {
  const peer = new Peers();
  peer.open("the salt of all");
  const heard: Heard = [];
  const count = peer.join("client", { least: 10, hear: (key, units) => heard.push([key, units]) });
  return { peer, heard, count: count ?? (() => {}) };
}

test("peers: a single process sends nothing and keeps nothing", () => {
  const alone = new Peers();
  expect(alone.join("client", { least: 1, hear: () => {} })).toBeNull();
  expect(alone.takeUntold()).toEqual([]);
  expect(alone.salt).toBeNull();
});

test("peers: a count is sent to the others once, and only when it is large enough", () => {
  const [first, second] = [openPeer(), openPeer()];
  first.count("busy", 7);
  first.count("quiet", 9);
  expect(first.peer.takeUntold()).toEqual([]);
  first.count("busy", 7);
  const told = first.peer.takeUntold();
  expect(told).toEqual([{ topic: "client", counts: [["busy", 14]] }]);
  expect(first.peer.takeUntold()).toEqual([]);
  second.peer.hear([...told, { topic: "unknown", counts: [["x", 1]] }]);
  expect(second.heard).toEqual([["busy", 14]]);
  expect(second.peer.takeUntold()).toEqual([]);
  expect(first.peer.salt).toBe(second.peer.salt);
});
