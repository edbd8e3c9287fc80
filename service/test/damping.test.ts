import { expect, test } from "vitest";
import { Stage, type StagedCase, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;

// A robot that visits every half hour with a new device and session, from addresses of one block.
function visits(count: number, { minute = 0, ip = "203.0.113" } = {}): Step[] {
  return Array.from({ length: count }, (_, visit) =>
    Array.from({ length: 9 }, (__, action): Step => ({
      minute: minute + visit * 30 + action / 30,
      type: "custom:check_price",
      origin: "browser",
      session_id: `session-${ip}-${minute}-${visit}`,
      device_id: `device-${ip}-${minute}-${visit}`,
      ip: `${ip}.${visit % 8}`,
      user_agent: "price-robot/1.0",
    })),
  ).flat();
}

const openIn = (cases: StagedCase[]) => cases.filter(({ status }) => status === "OPEN");
const falsePositive = { status: "CLOSED", disposition: "FALSE_POSITIVE" } as const;
const fraud = { status: "CLOSED", disposition: "CONFIRMED_FRAUD" } as const;

async function closeAll(stage: Stage, change: typeof falsePositive | typeof fraud = falsePositive): Promise<void> {
  for (const { case_id } of openIn(await stage.cases())) await stage.decide(case_id, change);
}

test("damping: after one false positive, a robot that opened a case every half hour opens none for weeks", async () => {
  const stage = await Stage.open();
  await stage.play(visits(2));
  const [first] = await stage.cases();
  await stage.decide(first?.case_id ?? "", falsePositive);
  const before = (await stage.cases()).length;
  expect(before).toBe(2);
  await stage.play(visits(48, { minute: day }));
  expect(await stage.cases()).toHaveLength(before);
});

test("damping: it ends at once when the case is reopened", async () => {
  const stage = await Stage.open();
  await stage.play(visits(1));
  const [first] = await stage.cases();
  const caseId = first?.case_id ?? "";
  await stage.decide(caseId, falsePositive);
  await stage.play(visits(1, { minute: hour }));
  expect(await stage.cases()).toHaveLength(1);
  await stage.decide(caseId, { status: "OPEN" });
  await stage.play(visits(1, { minute: 2 * hour }));
  expect(openIn(await stage.cases())).toHaveLength(2);
});

test("damping: it ends at once when a look-alike is confirmed as fraud", async () => {
  const stage = await Stage.open();
  await stage.play(visits(2));
  const [one, other] = await stage.cases();
  await stage.decide(one?.case_id ?? "", falsePositive);
  await stage.decide(other?.case_id ?? "", fraud);
  await stage.play(visits(1, { minute: 2 * hour }));
  expect(openIn(await stage.cases())).toHaveLength(1);
});

test("damping: a robot elsewhere, another rule, or the same rule on a customer's account is not damped", async () => {
  const stage = await Stage.open();
  await stage.play(visits(1));
  await closeAll(stage);
  await stage.play(visits(1, { minute: hour, ip: "198.51.100" }));
  expect(openIn(await stage.cases())).toHaveLength(1);
  await closeAll(stage, fraud);
  const onAccount = visits(1, { minute: 2 * hour }).map((step): Step => ({
    ...step,
    website_account_id: "customer",
    identity: "signed",
  }));
  await stage.play(onAccount);
  expect(openIn(await stage.cases())).toMatchObject([{ subject: "account:customer" }]);
});

// Customers at an event mistype their passwords.
function evening(customers: number, minute: number, from = 0): Step[] {
  return Array.from({ length: customers }, (_, index): Step[] => {
    const customer = { website_account_id: `customer-${from + index}`, ip: "203.0.113.80" };
    const at = minute + index / 3;
    return [
      { minute: at, type: "login_failed", ...customer },
      { minute: at + 0.2, type: "login_succeeded", ...customer },
    ];
  }).flat();
}

test("damping: after the case about an event's Wi-Fi was closed as a false positive, the next evening opens no case", async () => {
  const stage = await Stage.open();
  await stage.play(evening(60, 0));
  expect(await stage.cases()).toHaveLength(1);
  await closeAll(stage);
  await stage.play(evening(60, day, 100));
  expect(await stage.cases()).toHaveLength(1);
});

const guesses = (count: number, minute: number): Step[] =>
  Array.from({ length: count }, (_, index): Step => ({
    minute: minute + index / 10,
    type: "login_failed",
    website_account_id: `victim-${index}`,
    ip: "203.0.113.80",
  }));

test("damping: a thief at the same address is not covered: a larger attack and each entered account still get their cases", async () => {
  const stage = await Stage.open();
  await stage.play(guesses(10, 0));
  await closeAll(stage);
  await stage.play(guesses(40, day));
  await stage.play([{ minute: day + 5, type: "login_succeeded", website_account_id: "victim-3", ip: "203.0.113.80" }]);
  const open = openIn(await stage.cases());
  expect(open.map(({ subject }) => subject).toSorted()).toEqual(["account:victim-3", "ip:203.0.113.80"]);
  const own = open.find(({ website_account_id: account }) => account === "victim-3");
  expect(Object.values(own?.fraud_occurrences ?? {}).flatMap(({ explanation }) => explanation.model_behaviour ?? [])).toEqual([
    expect.not.objectContaining({ top_contributors: expect.arrayContaining([{ feature: "closed_as_false" }]) }),
  ]);
});

test("damping: the subtracted weight is shown as a contributor, and the contributors still sum to the log-odds", async () => {
  const stage = await Stage.open();
  await stage.play(visits(1));
  await closeAll(stage);
  const { database, tenantId } = stage.tenant;
  // As if it had been decided 24 days ago.
  await database.query({
    name: "",
    text: "update outcomes set decided_at = $2 where tenant_id = $1",
    values: [tenantId, stage.at(0)],
  });
  await stage.play(visits(1, { minute: 19 * day }));
  const [found] = openIn(await stage.cases());
  const [occurrence] = Object.values(found?.fraud_occurrences ?? {});
  const [model] = occurrence?.explanation.model_behaviour ?? [];
  const record = model?.top_contributors.at(-1);
  expect(record).toMatchObject({
    feature: "closed_as_false",
    plain_name: "Closed as a false positive once",
    feature_value: 1,
    direction: "toward_safe",
  });
  const { decision } = (
    await database.query<{ decision: string }>({
      name: "",
      text: "select decision from activities where tenant_id = $1 and case_id = $2",
      values: [tenantId, found?.case_id],
    })
  )[0] ?? { decision: "{}" };
  const sum = model?.top_contributors.reduce((total, each) => total + each.shap_value, 0) ?? 0;
  expect(sum).toBeCloseTo(JSON.parse(decision).l, 2);
});

// An account that pays 20 every hour, and then this amount on a device on which it never logged in.
function payments(amount: number, minute: number): Step[] {
  const owner = { website_account_id: "customer", device_id: "own", ip: "203.0.113.5" };
  const paid = { type: "payment", currency: "EUR" };
  const usual = Array.from({ length: 4 }, (_, index): Step[] => [
    { ...owner, minute: minute - (index + 1) * hour, type: "login_succeeded" },
    { ...owner, ...paid, minute: minute - (index + 1) * hour, amount: 20 },
  ]);
  return [...usual.flat(), { ...owner, ...paid, minute, device_id: "other", amount }];
}

test("damping: a false positive about a payment does not cover a payment of more than twice its amount", async () => {
  const stage = await Stage.open();
  await stage.play(payments(210, 5 * hour));
  await closeAll(stage);
  await stage.play(payments(420, day));
  expect(openIn(await stage.cases())).toEqual([]);
  await stage.play(payments(50_000, 2 * day));
  expect(openIn(await stage.cases())).toMatchObject([{ subject: "account:customer" }]);
});

const failed = (account: number, minute: number, round: number): Step => {
  return { minute, type: "login_failed", website_account_id: `account-${account}`, ip: `198.51.${round}.${account}` };
};

test("damping: a false positive about a campaign against the attacker's own account hides no attack on others", async () => {
  const stage = await Stage.open();
  await stage.play(Array.from({ length: 60 }, (_, index) => failed(1, index, index % 6)));
  await closeAll(stage);
  await stage.play(Array.from({ length: 40 }, (_, index) => failed(2 + (index % 10), 2 * hour + index, Math.floor(index / 10))));
  expect(openIn(await stage.cases())).toMatchObject([{ details: { subject: { kind: "campaign" } } }]);
});

test("damping: a false positive about an address at half of its full count does not cover a full count, which may stand for any number", async () => {
  const stage = await Stage.open();
  await stage.play(guesses(32, 0));
  await closeAll(stage);
  await stage.play(guesses(60, day));
  expect(openIn(await stage.cases())).toEqual([]);
  await stage.play(guesses(70, 2 * day));
  expect(openIn(await stage.cases())).toMatchObject([{ subject: "ip:203.0.113.80" }]);
});

// Accounts that pay with one card.
const byCard = (count: number, minute: number, from = 0) =>
  Array.from({ length: count }, (_, index): Step => {
    const card = { instrument: { fingerprint: "card" }, amount: 10, currency: "EUR" };
    return { minute: minute + index, type: "payment", website_account_id: `account-${from + index}`, ...card };
  });

test("damping: a false positive about a card in three accounts covers up to six accounts", async () => {
  const stage = await Stage.open();
  await stage.play(byCard(3, 0));
  await closeAll(stage);
  await stage.play(byCard(3, hour, 3));
  expect(openIn(await stage.cases())).toEqual([]);
  await stage.play(byCard(3, 2 * hour, 6));
  expect(openIn(await stage.cases())).toMatchObject([{ subject: "instrument:card" }]);
});
