import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { applyLabels } from "../src/engine/labels.ts";
import { Stage, type Step } from "./stage.ts";
import { labelAs } from "./training-lab.ts";

const hour = 60;
const day = 24 * hour;

const card = (name: string) => ({ type: "card", fingerprint: `card_${name}` });

function pay(minute: number, account: string | null, more: Partial<Step> = {}): Step {
  const who = account === null ? {} : { website_account_id: account };
  return { minute, type: "payment", amount: 20, currency: "EUR", status: "approved", ...who, ...more };
}

// A list of stolen numbers is tried at one seller, each time from another address.
function tries(count: number, minute: number, accounts: (string | null)[] = [null]): Step[] {
  return Array.from({ length: count }, (_, n) =>
    pay(minute + n / 6, accounts[n % accounts.length] ?? null, {
      amount: 1.5,
      payee_id: "seller",
      ip: `10.${n}.7.1`,
      instrument: card(`stolen-${minute}-${n}`),
      status: n % 5 === 0 ? "approved" : "declined",
    }),
  );
}

const subjectsOf = async (stage: Stage) => (await stage.cases()).map(({ subject }) => subject.replace(/:\d{4}-.*$/, ""));

test("rule card_testing: many declined new cards are one case, even if they come from many addresses", async () => {
  const stage = await Stage.open();
  await stage.play(tries(40, day));
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    website_account_id: "UNKNOWN",
    details: { overall_risk_score: 3, primary_fraud_label: "Bot", subject: { kind: "campaign" } },
  });
  expect(found.subject).toMatch(/^campaign:card_testing:/);
});

test("rule card_testing: the accounts that it uses are listed as attacked, and get no case of their own", async () => {
  const stage = await Stage.open();
  await stage.play(tries(40, day, ["a", "b"]));
  const found = await stage.onlyCase();
  expect(found.details.members).toMatchObject({ count: 2, created: 0, entered: 0 });
});

test("rule card_testing: ten declined cards are enough to detect it, even in a shop with many customers", async () => {
  const stage = await Stage.open();
  // A card is declined every fourth day, so a usual day has none, at whatever hour the days begin.
  const customers = Array.from({ length: 12 * 15 }, (_, n) =>
    pay((n * day) / 15, `c-${n}`, { instrument: card(`own-${n}`), status: n % 60 === 7 ? "declined" : "approved" }),
  );
  await stage.play(customers);
  const attack = await stage.play(tries(30, 12 * day));
  const first = attack.findIndex(({ rules }) => rules.includes("card_testing"));
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(15);
});

const customers = (minute: number, count: number, declinedEvery: number) =>
  Array.from({ length: count }, (_, n) =>
    pay(minute + n, `c-${n}`, {
      instrument: card(`own-${n}`),
      status: n % declinedEvery === declinedEvery - 1 ? "declined" : "approved",
    }),
  );

test("rule card_testing: a wave of new customers, a failing bank, or a customer who retries a declined card is not enough", async () => {
  const scenes: Step[][] = [
    customers(day, 100, 10),
    [...customers(0, 30, 999), ...customers(10 * day, 30, 1)],
    Array.from({ length: 30 }, (_, n) => pay(day + n, "a", { instrument: card("empty"), status: "declined" })),
    Array.from({ length: 20 }, (_, n) => pay(day + n, "a", { status: "declined" })),
  ];
  for (const steps of scenes) {
    const stage = await Stage.open();
    await stage.play(steps);
    expect(await stage.cases()).toEqual([]);
  }
});

test("rule instrument_many_accounts: one card used by three new accounts within a day opens a case about the card", async () => {
  const stage = await Stage.open();
  const steps = ["a", "b", "c"].map((account, n) => pay(day + n * hour, account, { instrument: card("stolen") }));
  const last = await stage.playLast(steps);
  expect(last.rules).toEqual(["instrument_many_accounts"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "instrument:card_stolen", website_account_id: "UNKNOWN" });
  expect(found.details.members).toMatchObject({ count: 1, entered: 1 });
});

const office = (minute: number, name: string) => pay(minute, name, { instrument: card("office") });

test("rule instrument_many_accounts: a family's card, an office's card with its own past, and a till with many cards are not enough", async () => {
  const scenes: Step[][] = [
    ["a", "b"].map((account, n) => pay(day + n, account, { instrument: card("family") })),
    [
      ...Array.from({ length: 20 }, (_, n) => office((n * day) / 2, `clerk-${n}`)),
      ...["x", "y", "z"].map((name, n) => office(11 * day + n, name)),
    ],
    Array.from({ length: 20 }, (_, n) => pay(day + n, `guest-${n}`, { device_id: "till", instrument: card(`own-${n}`) })),
  ];
  for (const steps of scenes) {
    const stage = await Stage.open();
    await stage.play(steps);
    expect(await stage.cases()).toEqual([]);
  }
});

// An account with a history. `entered` is a log-in on a device that it never used.
function history(account: string): Step[] {
  return Array.from({ length: 4 }, (_, n) => ({
    minute: n * day,
    type: "login_succeeded",
    website_account_id: account,
    device_id: `${account}-${n % 2}`,
  }));
}

function loot(account: string, minute: number, payee_id: string, isStranger = true): Step[] {
  const visit = {
    website_account_id: account,
    session_id: `s-${account}`,
    device_id: isStranger ? `thief-${account}` : `${account}-0`,
  };
  return [{ minute, type: "login_succeeded", ...visit }, pay(minute + 5, account, { type: "transfer", ...visit, payee_id })];
}

test("rule payee_strangers: if three entered accounts pay a payee for the first time, there is a case about the payee", async () => {
  const stage = await Stage.open();
  const victims = ["a", "b", "c"];
  await stage.play(victims.flatMap(history));
  const last = await stage.playLast(victims.flatMap((account, n) => loot(account, 10 * day + n * hour, "mule")));
  expect(last).toMatchObject({ rules: ["payee_strangers"], features: { "payee.strangers_7d": 3 } });
  expect((await stage.cases()).map(({ subject }) => subject)).toContain("payee:mule");
});

test("rule payee_strangers: a popular payee, and a holiday on which everybody's log-ins are unusual, are not enough", async () => {
  const people = Array.from({ length: 20 }, (_, n) => `p-${n}`);
  for (const steps of [
    people.flatMap((account, n) => loot(account, 10 * day + n * 10, "tickets", n % 8 === 0)),
    people.flatMap((account, n) => loot(account, 10 * day + n * 10, `seller-${n % 6}`)),
  ]) {
    const stage = await Stage.open();
    await stage.play([...people.flatMap(history), ...steps]);
    expect((await stage.cases()).filter(({ subject }) => subject.startsWith("payee:"))).toEqual([]);
  }
});

async function report(stage: Stage, ids: string[]): Promise<void> {
  const { tenantId, database } = stage.tenant;
  await labelAs(
    { tenantId, service: { database } },
    ids.map((activity_id) => ({ activity_id, y: 1 as const })),
  );
  await applyLabels({ database, clock }, tenantId);
}

// Two payments to each of a small and a large payee turn out to be frauds. Then both are paid again, and the card is used again.
async function playKnownFrauds() {
  const stage = await Stage.open();
  const now = 20 * day - 3 * hour;
  const honest = Array.from({ length: 80 }, (_, n) => pay(now + n / 10, `h-${n}`, { payee_id: "large" }));
  const played = await stage.play([
    ...honest,
    pay(now + 9, "a", { payee_id: "fence", instrument: card("one") }),
    pay(now + 10, "b", { payee_id: "fence" }),
    pay(now + 11, "c", { payee_id: "large" }),
    pay(now + 12, "d", { payee_id: "large" }),
  ]);
  await report(
    stage,
    played.slice(honest.length).map(({ activity_id }) => activity_id),
  );
  const [toFence, toLarge, byCard, byOther] = await stage.play([
    pay(now + 60, "e", { payee_id: "fence" }),
    pay(now + 61, "f", { payee_id: "large" }),
    pay(now + 62, "g", { payee_id: "another", instrument: card("one") }),
    pay(now + 63, "i", { payee_id: "another", instrument: card("two") }),
  ]);
  return { stage, toFence, toLarge, byCard, byOther };
}

test("rule payee_known_fraud: the next payment to a payee with reported payments opens a case about the payee", async () => {
  const { stage, toFence } = await playKnownFrauds();
  expect(toFence?.rules).toEqual(["payee_known_fraud"]);
  expect(await subjectsOf(stage)).toContain("payee:fence");
});

test("rule payee_known_fraud: a large payee with as many frauds is not suspicious", async () => {
  const { stage, toLarge } = await playKnownFrauds();
  expect(toLarge?.rules).toEqual([]);
  expect(await subjectsOf(stage)).not.toContain("payee:large");
});

test("rule instrument_known_fraud: the next payment with an instrument that has a reported payment opens a case about the instrument", async () => {
  const { stage, byCard } = await playKnownFrauds();
  expect(byCard?.rules).toEqual(["instrument_known_fraud"]);
  expect((await subjectsOf(stage)).toSorted()).toEqual(["instrument:card_one", "payee:fence"]);
});

test("rule instrument_known_fraud: another instrument is not suspicious", async () => {
  const { byOther } = await playKnownFrauds();
  expect(byOther?.rules).toEqual([]);
});

const signUps = (emails: string[]) =>
  emails.map((email, n): Step => ({
    minute: day + n * hour,
    type: "signup",
    website_account_id: `new-${n}`,
    device_id: `device-${n}`,
    ip: `10.${n}.0.1`,
    attributes: { email },
  }));

test("rule signups_mailbox: four spellings of one mailbox in a day are one case that lists the accounts", async () => {
  const stage = await Stage.open();
  await stage.play(signUps(["j.doe@mail.example", "jdoe+1@mail.example", "jd.oe2@mail.example", "jdoe3@mail.example"]));
  const found = await stage.onlyCase();
  expect(found.subject).toMatch(/^campaign:signups_mailbox:/);
  expect(found.details.members).toMatchObject({ count: 1, created: 1 });
});

test("rule signups_mailbox: four mailboxes of one domain are not enough", async () => {
  const other = await Stage.open();
  await other.play(signUps(["ann@mail.example", "ben@mail.example", "cleo@mail.example", "dan@mail.example"]));
  expect(await other.cases()).toEqual([]);
});
