import { expect, test } from "vitest";
import { newActivity, readActivity } from "../../db/inbox.ts";
import { Failure } from "../../domain/failure.ts";
import { Intake, type CollectedRequest } from "./intake.ts";

const activity = newActivity({ activity_id: "1", type: "page_view", occurred_at: "", received_at: "", origin: "browser" });

function parcel(events = 1, bytes = 1): CollectedRequest {
  return { activities: Array.from({ length: events }, () => activity), rejections: [], bytes };
}

type Write = { tenantId: string; parcels: CollectedRequest[]; end: (error?: unknown) => void };

// A store whose writes end when the test says so.
function openIntake(rest = () => Promise.resolve()): { intake: Intake; writes: Write[] } {
  const writes: Write[] = [];
  const intake = new Intake(
    (tenantId, parcels) =>
      new Promise((resolve, reject) => {
        writes.push({ tenantId, parcels, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
    rest,
  );
  return { intake, writes };
}

// Waits until everything that is ready to run has run.
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("intake: requests that arrive during a write go together into the next one", async () => {
  const { intake, writes } = openIntake();
  const added = Array.from({ length: 10 }, () => intake.add("a", parcel()));
  expect(writes.map((each) => each.parcels.length)).toEqual([1]);
  writes[0]?.end();
  await settled();
  expect(writes.map((each) => each.parcels.length)).toEqual([1, 9]);
  writes[1]?.end();
  await Promise.all(added);
});

test("intake: requests soon after a write began are gathered, and the first one after a pause is written at once", async () => {
  const rests: (() => void)[] = [];
  const { intake, writes } = openIntake(() => new Promise((resolve) => rests.push(resolve)));
  const first = intake.add("a", parcel());
  writes[0]?.end();
  await first;
  const later = [intake.add("a", parcel()), intake.add("a", parcel())];
  void intake.add("b", parcel());
  await settled();
  expect(writes.map((each) => [each.tenantId, each.parcels.length])).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
  rests[0]?.();
  await settled();
  expect(writes.slice(2).map((each) => [each.tenantId, each.parcels.length])).toEqual([["a", 2]]);
  writes[2]?.end();
  await Promise.all(later);
});

test("intake: once 100 events wait, they are written before the pause is over, but never while another write runs", async () => {
  const { intake, writes } = openIntake(() => new Promise(() => {}));
  void intake.add("a", parcel());
  void intake.add("a", parcel(100));
  await settled();
  expect(writes).toHaveLength(1);
  writes[0]?.end();
  await settled();
  writes[1]?.end();
  await settled();
  void intake.add("a", parcel(99));
  await settled();
  expect(writes).toHaveLength(2);
  void intake.add("a", parcel(1));
  const sizes = writes.map((each) => each.parcels.map(({ activities }) => activities.length));
  expect(sizes).toEqual([[1], [100], [99, 1]]);
});

test("intake: no request is reported as stored before its write has ended", async () => {
  const { intake, writes } = openIntake();
  const told: number[] = [];
  const added = [0, 1].map((index) => intake.add("a", parcel()).then(() => told.push(index)));
  await settled();
  expect(told).toEqual([]);
  writes[0]?.end();
  await settled();
  expect(told).toEqual([0]);
  writes[1]?.end();
  await Promise.all(added);
  expect(told).toEqual([0, 1]);
});

test("intake: at most 4,000 events go together, but a request is never cut", async () => {
  const { intake, writes } = openIntake();
  void intake.add("a", parcel());
  for (const events of [2000, 2000, 2000, 9000, 1]) void intake.add("a", parcel(events));
  for (let index = 0; index < 5; index++) {
    writes[index]?.end();
    await settled();
  }
  expect(writes.map((each) => each.parcels.map(({ activities }) => activities.length))).toEqual([
    [1],
    [2000, 2000],
    [2000],
    [9000],
    [1],
  ]);
});

test("intake: one tenant's flood delays only itself; tenants take turns, four at a time", async () => {
  const { intake, writes } = openIntake();
  for (let index = 0; index < 10; index++) void intake.add("a", parcel(4000));
  for (const tenant of ["b", "c", "d", "e", "f"]) void intake.add(tenant, parcel());
  expect(writes.map((each) => each.tenantId)).toEqual(["a", "b", "c", "d"]);
  writes[0]?.end();
  await settled();
  // Tenant a was already waiting when e and f arrived. Its turn after this one comes behind theirs.
  expect(writes.map((each) => each.tenantId).slice(4)).toEqual(["a"]);
  for (const index of [1, 2, 4]) {
    writes[index]?.end();
    await settled();
  }
  expect(writes.map((each) => each.tenantId).slice(5)).toEqual(["e", "f", "a"]);
});

test("intake: a tenant that sends more than can be written is rejected, which leaves room for others", async () => {
  const { intake, writes } = openIntake();
  const added = [intake.add("a", parcel(1, 12 * 1024 * 1024))];
  await expect(intake.add("a", parcel())).rejects.toMatchObject({ code: "service-unavailable" });
  added.push(intake.add("b", parcel()));
  for (const write of writes) write.end();
  await Promise.all(added);
  intake.requireRoom("a");
});

test("attack: many small events with long headers count as what they take while they wait", async () => {
  const { intake, writes } = openIntake();
  const long = newActivity({ ...readActivity(activity), user_agent: "a".repeat(1024) });
  const small = { activities: Array.from({ length: 2000 }, () => long), rejections: [], bytes: 100_000 };
  const added = Array.from({ length: 20 }, () => intake.add("a", small));
  const outcomes = Promise.allSettled(added);
  for (let index = 0; index < 20; index++) {
    writes[index]?.end();
    await settled();
  }
  expect((await outcomes).filter(({ status }) => status === "fulfilled")).toHaveLength(6);
  intake.requireRoom("a");
});

test("intake: at most 16 MiB wait; there is room again once they are written", async () => {
  const { intake, writes } = openIntake();
  const half = 8 * 1024 * 1024;
  const added = [intake.add("a", parcel(1, half)), intake.add("a", parcel(1, half))];
  const full = intake.add("b", parcel());
  await expect(full).rejects.toMatchObject({ code: "service-unavailable", headers: { "retry-after": "5" } });
  expect(() => intake.requireRoom("b")).toThrow(Failure);
  writes[0]?.end();
  await added[0];
  intake.requireRoom("b");
  await settled();
  writes[1]?.end();
  await Promise.all(added);
  expect(writes.map((each) => each.tenantId)).toEqual(["a", "a"]);
});

test("intake: if the store is unreachable, every request of the batch fails, and later requests are tried again", async () => {
  const { intake, writes } = openIntake();
  const away = new Failure("bad-gateway", "away");
  const added = [1, 2, 3].map(() => intake.add("a", parcel()));
  const outcomes = Promise.allSettled(added);
  writes[0]?.end(away);
  await settled();
  writes[1]?.end(away);
  expect((await outcomes).map((each) => each.status === "rejected" && each.reason)).toEqual([away, away, away]);
  expect(writes).toHaveLength(2);
  const later = intake.add("a", parcel());
  writes[2]?.end();
  await later;
});

test("intake: a request that cannot be stored does not fail the others", async () => {
  const { intake, writes } = openIntake();
  const added = [1, 2, 3, 4].map((bytes) => intake.add("a", parcel(1, bytes)));
  const outcomes = Promise.allSettled(added);
  const bug = new Error("a bug");
  writes[0]?.end();
  await settled();
  writes[1]?.end(bug);
  for (const index of [2, 3, 4]) {
    await settled();
    writes[index]?.end(writes[index]?.parcels[0]?.bytes === 3 ? bug : undefined);
  }
  expect((await outcomes).map((each) => each.status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(writes.map((each) => each.parcels.length)).toEqual([1, 3, 1, 1, 1]);
});

test("intake: an empty request is not written", async () => {
  const { intake, writes } = openIntake();
  await intake.add("a", parcel(0));
  expect(writes).toEqual([]);
});
