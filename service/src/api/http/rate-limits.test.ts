import { expect, test } from "vitest";
import { Limited } from "./limited.ts";
import { Quotas, RateLimiter } from "./rate-limits.ts";
import { Turns } from "./turns.ts";

function takeAll(quotas: Quotas, key: string, nowMs: number): number {
  let taken = 0;
  while (quotas.take(key, nowMs)) taken++;
  return taken;
}

test.for([1, 3, 7, 50, 999, 10_000])(
  "quotas: at %i per second, ten seconds' worth may be sent at once, and the quota refills at that rate",
  (rate) => {
    const quotas = new Quotas("client", rate);
    const start = 123_456.789;
    expect(takeAll(quotas, "a", start)).toBe(rate * 10);
    expect(takeAll(quotas, "a", start + 1000)).toBe(rate);
    expect(takeAll(quotas, "a", start + 3500)).toBe(Math.floor(rate * 2.5));
    expect(takeAll(quotas, "a", start + 60_000)).toBe(rate * 10);
    expect(takeAll(quotas, "b", start)).toBe(rate * 10);
  },
);

test("quotas: rejected requests do not count, and a caller that waits as advised is admitted", () => {
  const quotas = new Quotas("client", 2);
  takeAll(quotas, "a", 0);
  for (let again = 0; again < 1000; again++) expect(quotas.take("a", 0)).toBe(false);
  expect(quotas.waitSeconds("a", 0)).toBe(1);
  expect(quotas.state("a", 0)).toBe('"client";r=0;t=1');
  expect(quotas.take("a", 1000)).toBe(true);
  expect(quotas.state("a", 1000)).toBe('"client";r=1;t=10');
});

test("quotas: the number of remembered callers is bounded, and idle ones are dropped", () => {
  const quotas = new Quotas("client", 1, 100);
  for (let n = 0; n < 5000; n++) quotas.take(`caller ${n}`, n);
  expect(quotas.size).toBe(100);
  const later = 1_000_000;
  for (let n = 0; n < 60; n++) quotas.take(`later ${n}`, later);
  expect(quotas.size).toBe(60);
});

test("quotas: a quota in use is kept while other callers come and go", () => {
  const quotas = new Quotas("client", 1, 100);
  takeAll(quotas, "busy", 0);
  for (let n = 0; n < 99; n++) quotas.take(`caller ${n}`, 0);
  for (let n = 0; n < 1000; n++) quotas.take(`other ${n}`, 1500);
  expect(takeAll(quotas, "busy", 1500)).toBe(1);
});

const machine = { tenant: { tenant_id: "t", slug: "t" }, actor: "machine" };

function refusal(work: () => unknown): Limited {
  try {
    work();
  } catch (error) {
    if (error instanceof Limited) return error;
  }
  throw new Error("it was not refused");
}

test("limiter: responses carry the rate-limit headers once half of a quota is used", () => {
  const limiter = new RateLimiter({ client: 2, tenant: 100, collector: null });
  for (let n = 1; n < 10; n++) expect(limiter.admit(machine)).toBeNull();
  limiter.admit(machine);
  expect(limiter.admit(machine)).toEqual({
    "ratelimit-policy": '"client";q=20;w=10, "tenant";q=1000;w=10',
    ratelimit: expect.stringMatching(/^"client";r=9;t=6, "tenant";r=\d{3};t=1$/),
  });
});

test("limiter: without limits every request is admitted", () => {
  const limiter = new RateLimiter({ client: null, tenant: null, collector: null });
  for (let n = 0; n < 1000; n++) {
    expect(limiter.admit(machine)).toBeNull();
    limiter.admitPage("t");
  }
});

test("limiter: clients of a tenant share its quota; people, other tenants and callers without a tenant do not", () => {
  const limiter = new RateLimiter({ client: 1, tenant: 1, collector: null });
  for (let n = 0; n < 10; n++) limiter.admit(machine);
  expect(refusal(() => limiter.admit(machine)).limit).toBe("client");
  const other = refusal(() => limiter.admit({ ...machine, actor: "another" }));
  expect(other).toMatchObject({ limit: "tenant", headers: { "retry-after": "1" } });
  limiter.admit({ ...machine, actor: "Ada", person: { user_id: "u", role: "lead" } });
  limiter.admit({ tenant: { tenant_id: "u", slug: "u" }, actor: "machine" });
  limiter.admit({ tenant: null, actor: "machine" });
});

test("turns: a fixed number run at once, the rest in order of arrival, and nothing is kept at the end", async () => {
  const turns = new Turns({ atOnceMax: 2, waitingMax: 3, waitMsMax: 60_000 });
  const went: number[] = [];
  expect([turns.enter("a"), turns.enter("a")]).toEqual([null, null]);
  const waiting = [0, 1, 2].map((n) => turns.enter("a")?.then(() => went.push(n)));
  expect(refusal(() => turns.enter("a"))).toMatchObject({
    limit: "waiting",
    headers: { "retry-after": "1", "ratelimit-policy": '"waiting";q=5;qu="concurrent-requests"', ratelimit: '"waiting";r=0;t=1' },
  });
  expect(turns.enter("b")).toBeNull();
  for (let n = 0; n < 3; n++) {
    turns.leave("a");
    await waiting[n];
    expect(went).toEqual([0, 1, 2].slice(0, n + 1));
  }
  for (const key of ["a", "a", "b"]) turns.leave(key);
  expect(turns.size).toBe(0);
});

test("turns: a caller that waited too long is rejected, and its slot is freed", async () => {
  const turns = new Turns({ atOnceMax: 1, waitingMax: 3, waitMsMax: -1 });
  expect(turns.enter("a")).toBeNull();
  const late = turns.enter("a");
  turns.leave("a");
  await expect(late).rejects.toMatchObject({ code: "rate-limited", limit: "waiting" });
  expect(turns.size).toBe(0);
});

test("limiter: work that fails gives its turn back", async () => {
  const limiter = new RateLimiter({ client: null, tenant: null, collector: null });
  const failing = Array.from({ length: 1000 }, () => limiter.inTurn(machine, () => Promise.reject(new Error("no"))));
  expect(new Set((await Promise.allSettled(failing)).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(await limiter.inTurn(machine, async () => "done")).toBe("done");
});
