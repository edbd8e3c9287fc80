import { expect, test } from "vitest";
import { Peers } from "./peers.ts";

type Counts = [key: string, units: number][];

function openPeer(): { peer: Peers; received: Counts; count: (key: string, units: number) => void } {
  const peer = new Peers();
  peer.open("the salt of all");
  const received: Counts = [];
  const count = peer.join("client", { least: 10, onCount: (key, units) => received.push([key, units]) });
  return { peer, received, count: count ?? (() => {}) };
}

test("peers: a single process sends nothing and keeps nothing", () => {
  const alone = new Peers();
  expect(alone.join("client", { least: 1, onCount: () => {} })).toBeNull();
  expect(alone.takeUnsent()).toEqual([]);
  expect(alone.salt).toBeNull();
});

test("peers: a count is sent to the others once, and only when it is large enough", () => {
  const [first, second] = [openPeer(), openPeer()];
  first.count("busy", 7);
  first.count("quiet", 9);
  expect(first.peer.takeUnsent()).toEqual([]);
  first.count("busy", 7);
  const sent = first.peer.takeUnsent();
  expect(sent).toEqual([{ topic: "client", counts: [["busy", 14]] }]);
  expect(first.peer.takeUnsent()).toEqual([]);
  second.peer.receive([...sent, { topic: "unknown", counts: [["x", 1]] }]);
  expect(second.received).toEqual([["busy", 14]]);
  expect(second.peer.takeUnsent()).toEqual([]);
  expect(first.peer.salt).toBe(second.peer.salt);
});

test("peers: however many callers use little, the counts of one that uses much are sent", () => {
  const { peer, count } = openPeer();
  count("busy", 14);
  for (let caller = 0; caller < 30_000; caller++) count(`quiet ${caller}`, 1);
  expect(peer.takeUnsent()).toEqual([{ topic: "client", counts: [["busy", 14]] }]);
});
