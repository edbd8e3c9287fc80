import { expect, test } from "vitest";
import type { RecordedActivity } from "../../domain/activity.ts";
import { CollectorQuotas } from "./quotas.ts";

type Settings = ConstructorParameters<typeof CollectorQuotas>[0];

const none = { events: null, names: null };
const at = "2026-11-01T10:00:00.000Z";
let made = 0;

function eventOf(more: Partial<RecordedActivity> = {}): RecordedActivity {
  return { activity_id: `e-${made++}`, type: "page_view", origin: "browser", occurred_at: at, received_at: at, ...more };
}

function quotasOf(settings: Partial<Settings>, nowMs = () => 0): CollectorQuotas {
  return new CollectorQuotas({ address: none, key: none, ...settings }, nowMs);
}

type From = { tenantId?: string; ip?: string };

function kept(quotas: CollectorQuotas, events: RecordedActivity[], { tenantId = "t", ip = "192.0.2.1" }: From = {}) {
  return events.filter(quotas.admitterOf({ tenantId, ip }));
}

const events = (count: number, more: (n: number) => Partial<RecordedActivity> = () => ({})) =>
  Array.from({ length: count }, (_, n) => eventOf(more(n)));
const sessions = (count: number, each = 1) => events(count * each, (n) => ({ session_id: `s-${Math.floor(n / each)}` }));
const own = (n: number) => ({ device_id: `d-${n}`, session_id: `known-${n}` });
const signed = (n: number) => ({
  identity: "signed" as const,
  website_account_id: `user-${n}`,
  session_id: `signed-${n}`,
});

test("quotas: without a quota, everything is kept", () => {
  expect(kept(quotasOf({}), sessions(5_000))).toHaveLength(5_000);
});

test("quotas: an address may send ten seconds' worth at once; above that, about one session in 16 is kept, whole", () => {
  const quotas = quotasOf({ address: { events: 1_000, names: null } });
  expect(kept(quotas, sessions(1_000, 10))).toHaveLength(10_000);
  const over = kept(quotas, sessions(800, 10));
  const bySession = [...Map.groupBy(over, (each) => each.session_id).values()];
  expect(bySession.length).toBeGreaterThan(20);
  expect(bySession.length).toBeLessThan(100);
  expect(bySession.filter((each) => each.length !== 10)).toEqual([]);
});

// The sessions above the quota that a new process keeps.
function namesKept(): (string | undefined)[] {
  const quotas = quotasOf({ address: { events: 100, names: null } });
  kept(quotas, events(1_000));
  return kept(quotas, sessions(2_000)).map((each) => each.session_id);
}

test("quotas: each process keeps different sessions, so nobody can choose a session id that is always kept", () => {
  expect(namesKept()).not.toEqual(namesKept());
});

test("quotas: a sampled session may send at most the same quota a second time", () => {
  const quotas = quotasOf({ address: { events: 10, names: null } });
  kept(quotas, events(100));
  const most = Array.from({ length: 200 }, (_, n) => kept(quotas, sessions(1, 500), { ip: `192.0.2.${n}` }).length);
  expect(Math.max(...most)).toBeLessThanOrEqual(200);
});

test("quotas: new devices and sessions count once, and known ones still pass while new ones are rejected", () => {
  const quotas = quotasOf({ address: { events: null, names: 10 } });
  expect(kept(quotas, events(50, own))).toHaveLength(50);
  expect(kept(quotas, sessions(1_000)).length).toBeLessThan(150);
  expect(kept(quotas, [...events(50, own), ...events(50, own)])).toHaveLength(100);
});

test("quotas: each tenant, address and IPv6 /64 block has its own quota", () => {
  const quotas = quotasOf({ address: { events: 1, names: null } });
  const first = (from: From) => kept(quotas, events(10), from).length;
  expect(first({ ip: "2001:db8::1" })).toBe(10);
  expect(first({ ip: "2001:db8:0:0:ffff::2" })).toBeLessThan(10);
  expect(first({ ip: "2001:db8:0:1::1" })).toBe(10);
  expect(first({ ip: "2001:db8::1", tenantId: "other" })).toBe(10);
});

test("quotas: events that the address's quota rejects do not use up the key's quota", () => {
  const quotas = quotasOf({ address: { events: 10, names: null }, key: { events: 120, names: null } });
  kept(quotas, events(10_000), { ip: "192.0.2.1" });
  expect(kept(quotas, events(100), { ip: "192.0.2.2" })).toHaveLength(100);
});

test("quotas: a signed identity is subject to the key's quota, but not to its address's", () => {
  const quotas = quotasOf({ address: { events: 1, names: 1 }, key: { events: 100, names: null } });
  expect(kept(quotas, events(1_000, signed))).toHaveLength(1_000);
  expect(kept(quotas, events(1_000, signed)).length).toBeLessThan(250);
  const bad = quotasOf({ address: { events: 1, names: null } });
  expect(
    kept(
      bad,
      events(1_000, () => ({ identity: "bad-token" })),
    ).length,
  ).toBeLessThan(250);
});

test("quotas: they are full again ten seconds later", () => {
  let nowMs = 0;
  const quotas = quotasOf({ address: { events: 100, names: 100 }, key: { events: 400, names: 400 } }, () => nowMs);
  expect(kept(quotas, sessions(1_000))).toHaveLength(1_000);
  nowMs = 10_000;
  const others = events(1_000, (n) => ({ session_id: `later-${n}` }));
  expect(kept(quotas, others)).toHaveLength(1_000);
});

const mallory = () => ({ identity: "signed" as const, website_account_id: "mallory", session_id: "s" });

test("quotas: one account's signed events use up no more than their account's and their address's quota", () => {
  const quotas = quotasOf({ address: { events: 40, names: null }, key: { events: 800, names: null } });
  expect(kept(quotas, events(500, mallory))).toHaveLength(500);
  expect(kept(quotas, events(10_000, mallory)).length).toBeLessThanOrEqual(400);
  const elsewhere = { ip: "198.51.100.7" };
  expect(kept(quotas, events(100), elsewhere)).toHaveLength(100);
  expect(kept(quotas, events(100, signed), elsewhere)).toHaveLength(100);
});

test("quotas: the addresses of one block have a quota together, so none of them uses up the key's", () => {
  const quotas = quotasOf({ address: { events: 10, names: null }, key: { events: 400, names: null } });
  const flood = Array.from({ length: 100 }, (_, n) => kept(quotas, events(100), { ip: `2001:db8:66:${n}::1` }).length);
  expect(flood.slice(0, 4)).toEqual([100, 100, 100, 100]);
  expect(flood.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(800);
  expect(kept(quotas, events(100), { ip: "2001:db8:67:1::1" })).toHaveLength(100);
});

type Flood = { blocks: number; hosts: number; of: (n: number) => Partial<RecordedActivity> };

// Plays a flood of 1.5 times each host's quota for 12 seconds, and returns what share of the other visitors' events is kept.
function visitorsIn({ blocks, hosts, of }: Flood) {
  let [nowMs, forged] = [0, 0];
  const quotas = quotasOf({ address: { events: 50, names: 5 }, key: { events: 500, names: 200 } }, () => nowMs);
  const visitors = { sent: 0, unsigned: 0, signed: 0 };
  for (let tick = 0; tick < 24; tick++, nowMs += 500) {
    for (let block = 0; block < blocks; block++)
      for (let host = 0; host < hosts; host++)
        kept(
          quotas,
          events(38, () => of(forged++)),
          { ip: `2001:db8:${block}:${host}::1` },
        );
    for (let visitor = 0; visitor < 5; visitor++, visitors.sent += 2) {
      const n = tick * 5 + visitor;
      const from = { ip: `198.51.${n}.7` };
      visitors.unsigned += kept(quotas, [eventOf(own(n)), eventOf(own(n))], from).length;
      visitors.signed += kept(quotas, [eventOf(signed(n)), eventOf(signed(n))], from).length;
    }
  }
  return { unsigned: visitors.unsigned / visitors.sent, signed: visitors.signed / visitors.sent };
}

test.each([
  { blocks: 3, hosts: 4 },
  { blocks: 50, hosts: 1 },
])("quotas: $blocks blocks that flood a key do not use up what other visitors need", (flood) => {
  const few = visitorsIn({ ...flood, of: (n) => ({ session_id: `flood-${n % 200}` }) });
  expect(few.unsigned).toBeGreaterThan(0.98);
  expect(few.signed).toBe(1);
  const many = visitorsIn({ ...flood, of: (n) => ({ session_id: `flood-${n}`, device_id: `flood-${n}` }) });
  expect(many.unsigned).toBeGreaterThan(0.98);
  expect(many.signed).toBe(1);
});

test("quotas: a hundred accounts that flood a key do not use up what other visitors need", () => {
  const { unsigned, signed: ofOthers } = visitorsIn({ blocks: 3, hosts: 4, of: (n) => signed(1_000 + (n % 100)) });
  expect(unsigned).toBeGreaterThan(0.98);
  expect(ofOthers).toBe(1);
});

test("quotas: a thousand blocks that send little do not use up what signed visitors need", () => {
  const quotas = quotasOf({ address: { events: 50, names: 5 }, key: { events: 500, names: 200 } });
  for (let block = 0; block < 1_000; block++) kept(quotas, events(20), { ip: `2001:db8:${block.toString(16)}::1` });
  expect(kept(quotas, events(100, signed))).toHaveLength(100);
});

test("quotas: packed bodies of three blocks do not keep those of other visitors from being unpacked", () => {
  let nowMs = 0;
  const quotas = quotasOf({ address: { events: 500, names: null }, key: { events: 5_000, names: null } }, () => nowMs);
  const unpack = (ip: string, bytes: number) => {
    const sender = { tenantId: "t", ip };
    const isAdmitted = quotas.mayUnpack(sender, true);
    if (isAdmitted) quotas.countUnpacked(sender, bytes);
    return isAdmitted;
  };
  const visitors: boolean[] = [];
  for (let tick = 0; tick < 600; tick++, nowMs += 100) {
    for (let n = 0; n < 3 * 4; n++) unpack(`2001:db8:${n % 3}:${n}::1`, 1024 * 1024);
    visitors.push(unpack(`198.51.${tick % 250}.7`, 20_000));
  }
  expect(visitors.filter((isAdmitted) => !isAdmitted)).toEqual([]);
});

test("quotas: packed bodies are refused before they are unpacked once an address has sent too much", () => {
  let nowMs = 0;
  const quotas = quotasOf({ address: { events: 500, names: null }, key: { events: 5_000, names: null } }, () => nowMs);
  const sender = { tenantId: "t", ip: "192.0.2.1" };
  const unpack = (from = sender) => {
    const isAdmitted = quotas.mayUnpack(from, true);
    if (isAdmitted) quotas.countUnpacked(from, 8 * 1024 * 1024);
    return isAdmitted;
  };
  expect([unpack(), unpack(), unpack(), unpack()]).toEqual([true, true, false, false]);
  expect(unpack({ ...sender, ip: "198.51.100.7" })).toBe(true);
  expect(unpack({ ...sender, tenantId: "other" })).toBe(true);
  nowMs = 10_000;
  expect(unpack()).toBe(true);
});

test("quotas: many addresses of one block share the quota on unpacked bytes", () => {
  const quotas = quotasOf({ address: { events: 500, names: null }, key: { events: 20_000, names: null } });
  const unpacked = Array.from({ length: 50 }, (_, n) => {
    const sender = { tenantId: "t", ip: `2001:db8:66:${n}::1` };
    const isAdmitted = quotas.mayUnpack(sender, true);
    if (isAdmitted) quotas.countUnpacked(sender, 8 * 1024 * 1024);
    return isAdmitted;
  });
  expect(unpacked.filter(Boolean)).toHaveLength(5);
});

test("quotas: a packed body is unpacked if one of its events can pass", () => {
  const quotas = quotasOf({ address: { events: 10, names: null } });
  const sender = { tenantId: "t", ip: "192.0.2.1" };
  kept(quotas, events(100));
  expect(quotas.mayUnpack(sender, false)).toBe(true);
  kept(quotas, events(10_000));
  expect(quotas.mayUnpack(sender, false)).toBe(false);
  expect(quotas.mayUnpack(sender, true)).toBe(true);
});
